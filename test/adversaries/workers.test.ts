import { LYING_WORKERS } from "../../testkit/adversaries/workers.ts";
import { siegeSuite } from "../../testkit/adversaries/suite.ts";

siegeSuite("lying workers", LYING_WORKERS);
