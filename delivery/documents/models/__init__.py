from delivery.documents.models.branding import BrandingVersion
from delivery.documents.models.company import CompanyProfile, Currency

__all__ = ["BrandingVersion", "CompanyProfile", "Currency"]
