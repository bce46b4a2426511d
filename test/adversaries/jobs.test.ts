import { HOSTILE_JOBS } from "../../testkit/adversaries/jobs.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";

adversarySuite("hostile jobs", HOSTILE_JOBS);
adversarySuite("hostile jobs that ask for answers", HOSTILE_JOBS, { forms: ["answer"] });
