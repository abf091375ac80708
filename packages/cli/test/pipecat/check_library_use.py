"""Checks the services of the `botcli init` catalogue and generated bots with the installed pipecat-ai.

All checks share one process, because importing the packages of all vendors takes most of the time. Reads {projects,
services, files} from standard input, and prints {constructed, inspected, deprecated} as its last line:
- `constructed`: the result of `construct_services.py` for each project
- `inspected`: the result of `inspect_catalogue.py` for each service
- `deprecated`: {path, uses} for each file, with the result of `find_deprecated.py`
"""

import json
import sys
import warnings

from construct_services import block_network, construct_project_services
from find_deprecated import report_deprecated_uses
from inspect_catalogue import look_up_service

if __name__ == "__main__":
    asked = json.load(sys.stdin)
    block_network()
    # First, because a module warns about its deprecation only when it is imported for the first time.
    constructed = [construct_project_services(project) for project in asked["projects"]]
    warnings.simplefilter("ignore")
    inspected = [look_up_service(service) for service in asked["services"]]
    deprecated = [report_deprecated_uses(path) for path in asked["files"]]
    print(json.dumps({"constructed": constructed, "inspected": inspected, "deprecated": deprecated}))
