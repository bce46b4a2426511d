import { AT_LENGTH, everyFourth } from "../../testkit/atLength.ts";
import { Arena } from "../../testkit/adversaries/arena.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";
import { REENTRANT_TOKEN } from "../../testkit/adversaries/token.ts";

const make = (): Promise<Arena> => Arena.create({ token: "HostileToken" });

// About an answer; at length about a trace.
adversarySuite("hostile stake asset", everyFourth(REENTRANT_TOKEN, 0), {
  make,
  forms: [AT_LENGTH ? "trace" : "answer"],
});
