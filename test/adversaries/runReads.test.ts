import { RUN_READERS, runArena } from "../../testkit/adversaries/runReads.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";

adversarySuite("workers of runs that read something else", RUN_READERS, runArena);
