import { HOSTILE_JOBS } from "../../test-support/adversaries/jobs.ts";
import { siegeSuite } from "../../test-support/adversaries/suite.ts";

siegeSuite("hostile jobs", HOSTILE_JOBS);
