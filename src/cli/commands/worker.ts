import { Command } from "commander";
import { MAX_CALLBACK_GAS, MAX_OPEN_CLAIMS } from "../../worker/jobs.ts";
import { TracePublisher } from "../../worker/publisher.ts";
import { runWorker } from "../../worker/worker.ts";
import { amountFromZero } from "../amount.ts";
import { addExamples } from "../globalOptions.ts";
import type { Output } from "../output.ts";
import { port, seconds, whole } from "../parse.ts";
import { play, playerSettings } from "../playing.ts";
import { addSettings, defaulted, optional, readSettings } from "../settings.ts";

const settings = {
  ...playerSettings,
  minFee: defaulted(
    "amount",
    "least fee above what a job's gas costs at the price of now and half as much again, in whole units of the stake " +
      "asset, or with a unit such as 50gwei",
    amountFromZero,
    0n,
  ),
  marginSeconds: defaulted("seconds", "time to spare that a claim must leave", seconds(0), 60),
  maxCallbackGas: defaulted(
    "n",
    "most gas of a job's callback, which whoever delivers pays",
    whole(0),
    MAX_CALLBACK_GAS,
  ),
  maxOpenClaims: defaulted(
    "n",
    "most own claims that are neither final nor refuted: all can be disputed at once",
    whole(1),
    MAX_OPEN_CLAIMS,
  ),
  selfAudit: defaulted("n", "elements that the chain recomputes, free, before a submission", whole(0), 8),
  publishPort: optional<number>("port", "serve the traces and outputs of its claims on 127.0.0.1", port, "none"),
};

/** `refute worker`: serve jobs until stopped. */
export function workerCommand(output: Output): Command {
  const command = new Command("worker")
    .description("serve jobs: claim, execute, submit, answer disputes, finalise, deliver, collect")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { minFee, marginSeconds, maxCallbackGas, maxOpenClaims, publishPort } = values;
      const policy = { minFee, marginSeconds, maxCallbackGas, maxOpenClaims };
      const publisher = publishPort === undefined ? undefined : new TracePublisher();
      await play(values, output, async (playing) => {
        if (publishPort !== undefined)
          playing.log.info({ port: await publisher?.listen(publishPort) }, "publishes its traces");
        await runWorker({ ...playing, policy, selfAuditSamples: values.selfAudit, publisher });
        await publisher?.close();
      });
    });
  return addExamples(
    addSettings(command, settings),
    "worker --models models.json",
    "worker --models models.json --min-fee 0.001 --monitor-port 9100",
  );
}
