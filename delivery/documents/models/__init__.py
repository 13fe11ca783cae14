from delivery.documents.models.branding import BrandingVersion
from delivery.documents.models.company import CompanyProfile, Currency
from delivery.documents.models.issued_file import FailedFile, IssuedFile
from delivery.documents.models.staff_certificate import StaffCertificate

__all__ = ["BrandingVersion", "CompanyProfile", "Currency", "FailedFile", "IssuedFile",
           "StaffCertificate"]
