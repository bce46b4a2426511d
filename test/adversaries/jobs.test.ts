import { HOSTILE_JOBS } from "../../testkit/adversaries/jobs.ts";
import { siegeSuite } from "../../testkit/adversaries/suite.ts";

siegeSuite("hostile jobs", HOSTILE_JOBS);
