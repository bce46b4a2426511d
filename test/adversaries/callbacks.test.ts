import { HOSTILE_CALLBACKS } from "../../testkit/adversaries/callbacks.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";

adversarySuite("hostile callbacks", HOSTILE_CALLBACKS, { forms: ["trace", "answer"] });
