import { Arena } from "../../test-support/adversaries/arena.ts";
import { siegeSuite } from "../../test-support/adversaries/suite.ts";
import { REENTRANT_TOKEN } from "../../test-support/adversaries/token.ts";

siegeSuite("hostile stake asset", REENTRANT_TOKEN, () => Arena.create("HostileToken"));
