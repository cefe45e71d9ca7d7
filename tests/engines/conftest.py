from __future__ import annotations

import logging

logging.getLogger("coremltools").setLevel(logging.ERROR)
