import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "delivery.settings")

os.umask(0o077)  # what is written holds customers' data
application = get_wsgi_application()
_ = get_resolver().url_patterns  # not the first visitor's time
# What is loaded stays for good; without this each full collection walks it again, up to 300 ms
# in the middle of a page.
gc.freeze()
