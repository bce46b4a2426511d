import { LYING_WORKERS } from "../../testkit/adversaries/workers.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";

adversarySuite("lying workers", LYING_WORKERS);
