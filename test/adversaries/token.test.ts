import { Arena } from "../../testkit/adversaries/arena.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";
import { REENTRANT_TOKEN } from "../../testkit/adversaries/token.ts";

const make = (): Promise<Arena> => Arena.create({ token: "HostileToken" });

adversarySuite("hostile stake asset", REENTRANT_TOKEN, { make, forms: ["trace", "answer"] });
