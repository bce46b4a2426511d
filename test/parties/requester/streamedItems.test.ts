import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { numberToHex } from "viem";
import { executeReference } from "../../../src/executor/reference.ts";
import type { JobRecord } from "../../../src/chain/market/history.ts";
import { executeRun } from "../../../src/runs/executeRun.ts";
import type { Executions } from "../../../src/runs/executions.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { ItemOutputError } from "../../../src/parties/requester/errors.ts";
import { streamedItems, type StreamedItem } from "../../../src/parties/requester/streamedItems.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { TracePublisher } from "../../../src/parties/worker/publisher.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";
import { rejection } from "../../../testkit/rejection.ts";

const ITEMS = 5;
const jobId = numberToHex(7, { size: 32 });
const program = runProgram();
const description = describeProgram(program);
const record = { id: jobId, job: { items: ITEMS }, claims: [] } as unknown as JobRecord;

async function all(url: string, items = ITEMS): Promise<StreamedItem[]> {
  const found: StreamedItem[] = [];
  for await (const item of streamedItems(description, jobId, { url, items })) found.push(item);
  return found;
}

describe("items that a worker streams", () => {
  let publisher: TracePublisher;
  let server: Server | undefined;
  const executions = {} as Executions;
  let url: string;
  beforeEach(async () => {
    publisher = new TracePublisher();
    publisher.publish(new Map(), executions);
    url = `http://127.0.0.1:${await publisher.listen(0)}`;
  });
  afterEach(async () => {
    await publisher.close();
    server?.closeAllConnections();
    server?.close();
  });

  /** Follows the job. Resolves when the publisher has answered, and sends all that comes. */
  async function connected(): Promise<{ items: Promise<StreamedItem[]> }> {
    const { fetch } = globalThis;
    let items!: Promise<StreamedItem[]>;
    await new Promise<void>((resolve) => {
      globalThis.fetch = (...of) => fetch(...of).finally(resolve);
      items = all(url);
    }).finally(() => (globalThis.fetch = fetch));
    return { items };
  }

  /** Executes the job. @param after Called after each item. */
  const run = (after: (item: number) => Promise<unknown> = () => Promise.resolve()) => {
    let item = 0;
    return executeRun(
      program,
      new RunInputs(program.model.program.inputs, { items: ITEMS, firstItem: 0 }, runInputBytes(ITEMS)),
      async (model, inputs) => {
        if (item > 0) await after(item - 1);
        item++;
        return executeReference(model, inputs);
      },
      {},
      (item, executed) => executions.onItem!(record, item, executed),
    );
  };

  const follow = async (): Promise<Response> => fetch(`${url}/jobs/${jobId}/items`);

  it("areTheOutputsAfterEachItem_alsoForWhoComesLater", async () => {
    const expected: [number, Uint8Array[]][] = [];
    const take = executions.onItem!;
    executions.onItem = (job, item, executed) => {
      const { outputs, checkpoints } = program.model.program;
      expected.push([item, outputs.map((k) => executed.tensor(checkpoints[k]!.step).slice())]);
      take(job, item, executed);
    };
    const early = await connected();
    let late: Awaited<ReturnType<typeof connected>> | undefined;
    await run(async (item) => {
      if (item === 2) late = await connected();
    });
    const plain = (items: StreamedItem[]) => items.map(({ item, outputs }) => [item, [...outputs.values()]]);
    expect(plain(await early.items)).to.deep.equal(expected);
    expect(plain(await late!.items)).to.deep.equal(expected.slice(2));
    expect(expected).to.have.length(ITEMS);
  });

  it("ofAJobWhoseClaimsAreSealed_areNone", async () => {
    const ended = new AbortController();
    const follower = streamedItems(description, jobId, { url, items: ITEMS, signal: ended.signal }).next();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const take = executions.onItem!;
    executions.onItem = (job, ...of) => take({ ...job, terms: { openFrom: 1 } } as JobRecord, ...of);
    await run();
    ended.abort();
    expect(await rejection(follower)).to.have.property("name", "AbortError");
  });

  it("ofAJobThatWasClaimedOnAlready_areNone", async () => {
    publisher.publish(new Map([[jobId, record]]), executions);
    expect(await all(url)).to.deep.equal([]);
  });

  it("areToldToSoMany_andNoMore", async () => {
    const held = await Promise.all(Array.from({ length: 32 }, follow));
    expect(held.map(({ status }) => status)).to.deep.equal(new Array(32).fill(200));
    expect((await follow()).status).to.equal(503);
    await held[0]!.body!.cancel();
    let { status } = await follow();
    for (let tries = 0; status === 503 && tries < 100; tries++) ({ status } = await follow());
    expect(status).to.equal(200);
    await Promise.all(held.slice(1).map(({ body }) => body!.cancel()));
  });

  /** What an honest worker says of the first item, and what is done to it. */
  const honest = {
    item: 0,
    items: ITEMS,
    changes: description.outputs.map((_, output) => ({ output, at: 0, data: `0x${"00".repeat(1_200)}` })),
  };
  const [change] = honest.changes as [(typeof honest.changes)[0]];
  const line = (other: object): string => `${JSON.stringify({ ...honest, ...other })}\n`;
  for (const [what, body] of [
    ["no JSON", "{]\n"],
    ["a list", "[]\n"],
    ["no item", line({ item: undefined })],
    ["an item that is not one", line({ item: -1 })],
    ["an item beyond the last", line({ item: ITEMS })],
    ["another number of items", line({ items: ITEMS + 1 })],
    ["an item twice", line({}) + line({})],
    ["an unknown output", line({ changes: [{ ...change, output: 2 }] })],
    ["bytes beyond an output", line({ changes: [{ ...change, at: 1 }] })],
    ["bytes at no place", line({ changes: [{ ...change, at: 2 ** 53 }] })],
    ["no bytes", line({ changes: [{ ...change, data: "zz" }] })],
    ["a line without an end", "x".repeat(2 ** 20)],
  ] as const)
    it(`of a server that says ${what}: areRefused`, async () => {
      server = createServer((_, response) => void response.end(body));
      await new Promise<void>((resolve) => void server!.listen(0, "127.0.0.1", resolve));
      const error = await rejection(all(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
      expect(error).to.be.instanceOf(ItemOutputError);
    });

  it("ofNoServer_areRefused", async () => {
    expect(await rejection(all("http://127.0.0.1:9"))).to.be.instanceOf(ItemOutputError);
  });
});
