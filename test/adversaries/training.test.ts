import { Arena } from "../../testkit/adversaries/arena.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";
import { DISHONEST_TRAINERS, trainedHonestly } from "../../testkit/adversaries/training.ts";

adversarySuite("workers of training runs", DISHONEST_TRAINERS, {
  make: async () => {
    const arena = await Arena.create();
    await arena.startWatcher([trainedHonestly.program]);
    return arena;
  },
});
