from delivery.documents.models.branding import BrandingVersion
from delivery.documents.models.company import CompanyProfile, Currency
from delivery.documents.models.issued_file import IssuedFile

__all__ = ["BrandingVersion", "CompanyProfile", "Currency", "IssuedFile"]
