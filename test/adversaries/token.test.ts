import { Arena } from "../../testkit/adversaries/arena.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";
import { REENTRANT_TOKEN } from "../../testkit/adversaries/token.ts";

adversarySuite("hostile stake asset", REENTRANT_TOKEN, () => Arena.create({ token: "HostileToken" }));
