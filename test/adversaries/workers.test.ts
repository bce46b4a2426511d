import { LYING_WORKERS } from "../../test-support/adversaries/workers.ts";
import { siegeSuite } from "../../test-support/adversaries/suite.ts";

siegeSuite("lying workers", LYING_WORKERS);
