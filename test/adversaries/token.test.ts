import { Arena } from "../../testkit/adversaries/arena.ts";
import { siegeSuite } from "../../testkit/adversaries/suite.ts";
import { REENTRANT_TOKEN } from "../../testkit/adversaries/token.ts";

siegeSuite("hostile stake asset", REENTRANT_TOKEN, () => Arena.create("HostileToken"));
