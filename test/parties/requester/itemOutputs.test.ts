import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { executeReference } from "../../../src/executor/reference.ts";
import { encodeInputs } from "../../../src/parties/requester/encodeInputs.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { itemOutputs } from "../../../src/parties/requester/itemOutputs.ts";
import { TracePublisher } from "../../../src/parties/worker/publisher.ts";
import { first } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { RUN_COUNT, runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";
import { rejection } from "../../../testkit/rejection.ts";
import type { Execute } from "../../../src/runs/execute.ts";

const ITEMS = 40;
const program = runProgram();

describe("outputs of the items of a run", function () {
  this.timeout(60_000);
  const players = usePlayers("suite");
  const publisher = new TracePublisher();
  const results: Uint8Array[][] = [];
  let url: string;
  let executed = 0;

  const execute: Execute = (model, inputs) => {
    executed++;
    const tensors = executeReference(model, inputs);
    const item = Number(new DataView(inputs[3]!.buffer, inputs[3]!.byteOffset).getBigInt64(0, true));
    results[item] = [tensors[3]!, tensors[1]!];
    return Promise.resolve(tensors);
  };

  async function submitted() {
    const worker = await players().startWorker(await players().workerKey(), program, execute, { publisher });
    const posted = await players().post(program, runInputBytes(ITEMS), { items: ITEMS });
    await first(worker, "submitted");
    // The worker publishes a claim once it has seen it on the chain.
    const isServed = () =>
      itemOutputs(posted.requester, posted.jobId, { item: ITEMS - 1, url }).then(
        () => true,
        () => false,
      );
    while (!(await isServed())) await new Promise((resolve) => setTimeout(resolve, 20));
    return { ...posted, stop: worker.stop };
  }

  before(async () => void (url = `http://127.0.0.1:${await publisher.listen(0)}`));
  after(() => publisher.close());

  it("eachItemsOutputs_areFetchedFromTheWorker_andAreThoseThatItCommittedTo", async () => {
    const { requester, jobId, stop } = await submitted();
    executed = 0;
    for (const item of [0, 1, 17, ITEMS - 2]) {
      const { outputs, finalised } = await itemOutputs(requester, jobId, { item, url });
      expect(finalised).to.equal(false);
      expect([...outputs.keys()]).to.deep.equal([1]);
      expect(Buffer.from(outputs.get(1)!).equals(results[item]![1]!)).to.equal(true);
    }
    // From the nearest state that was kept, not from the first item.
    expect(executed).to.be.at.most(4 * Math.ceil(ITEMS / 16));
    const last = await itemOutputs(requester, jobId, { item: ITEMS - 1, url });
    expect([...last.outputs.keys()]).to.deep.equal([0, 1]);
    expect(Buffer.from(last.outputs.get(0)!).equals(results[ITEMS - 1]![0]!)).to.equal(true);
    await stop();
  });

  it("whatAServerMakesUp_isRefused", async () => {
    const { requester, jobId, stop } = await submitted();
    for (const [name, change, expected] of [
      [
        "another bit",
        (body: Buffer) => body.fill(body[body.length - 1]! ^ 1, body.length - 1),
        "not part of the claim",
      ],
      ["a node of the path changed", (body: Buffer) => body.fill(7, 0, 32), "not part of the claim"],
      ["too short", (body: Buffer) => body.subarray(1), "not part of the claim"],
      ["too long", (body: Buffer) => Buffer.concat([body, body]), "sent more than"],
    ] as const) {
      const server = createServer((request, response) => {
        void fetch(url + request.url!)
          .then((answer) => answer.arrayBuffer())
          .then((body) => response.end(change(Buffer.from(body))));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const lying = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { message } = await rejection(itemOutputs(requester, jobId, { item: 3, url: lying }));
      expect(message, name).to.include(expected);
      server.closeAllConnections();
      server.close();
    }
    await stop();
  });

  it("itemsThatTheJobDoesNotHave_andServersThatDoNotAnswer_areNamed", async () => {
    const { requester, jobId, stop } = await submitted();
    for (const item of [-1, ITEMS, 1.5])
      expect((await rejection(itemOutputs(requester, jobId, { item, url }))).message).to.include(
        `item ${item}: the job has ${ITEMS}`,
      );
    const nobody = "http://127.0.0.1:9";
    expect((await rejection(itemOutputs(requester, jobId, { item: 0, url: nobody }))).message).to.include(
      "--publish-port",
    );
    await stop();
  });

  it("encodeInputs_takesTheTensorsOfAllItems_andNoIndex", () => {
    const description = describeProgram(program);
    const one = new Int32Array(RUN_COUNT);
    const all = new Int32Array(3 * RUN_COUNT);
    const given = { state: one, x: all, seed: one };
    expect(encodeInputs(description, given, 3).map(({ length }) => length)).to.deep.equal([
      4 * RUN_COUNT,
      12 * RUN_COUNT,
      4 * RUN_COUNT,
      0,
    ]);
    expect(() => encodeInputs(description, given, 2)).to.throw(
      'input "x": expected a Int32Array of 600 (int32, [2, 300])',
    );
    expect(() => encodeInputs(description, { ...given, i: new BigInt64Array(1) }, 3)).to.throw(
      'input "i" is the number',
    );
  });
});
