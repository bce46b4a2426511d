import { expect } from "chai";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { AT_LENGTH } from "../../../testkit/atLength.ts";

const PROCESS = join(import.meta.dirname, "../../../testkit/processes/gatewayProcess.ts");
const MIB = 2 ** 20;
const MOST = 4 * MIB;
/** Bodies at once, and MiB of each: more than the memory that the process may take. */
const [BODIES, SIZE] = AT_LENGTH ? [24, 100] : [8, 100];
/** MiB that a server may take more than before: 16 bodies that are taken, twice while they are read, and buffers. */
const ROOM = 16 * 4 * 2 + 150;

describe("a gateway's server with bodies of a hundred megabytes", function () {
  this.timeout(300_000);
  let server: ChildProcessWithoutNullStreams;
  let lines: AsyncIterator<string>;
  let port: number;
  const line = async (): Promise<number> => Number((await lines.next()).value);
  /** The most memory that the process has had, MiB. */
  const peak = async (): Promise<number> => {
    server.stdin.write("peak\n");
    return (await line()) / 1_024;
  };
  before(async () => {
    server = spawn(process.execPath, [PROCESS, String(MOST)]);
    server.stderr.pipe(process.stderr);
    lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    port = await line();
  });
  after(async () => {
    const ended = once(server, "close");
    server.stdin.end();
    await ended;
  });

  /** Sends a body in pieces, as fast as they are taken. @param size Bytes. @returns the status */
  const statusOf = (size: number, headers: Record<string, string> = {}): Promise<number | undefined> =>
    new Promise((resolve, fail) => {
      const all = { "content-type": "application/json", ...headers };
      const options = { host: "127.0.0.1", port, path: "/v1/completions", method: "POST", headers: all, agent: false };
      const sent = request(options, (answer) => answer.resume().once("end", () => resolve(answer.statusCode)));
      sent.once("error", fail);
      const piece = Buffer.alloc(MIB, "x");
      const send = (left: number): void => {
        if (left === 0) sent.end();
        else sent.write(piece.subarray(0, left), () => send(Math.max(0, left - piece.length)));
      };
      send(size);
    });

  it("refusesAllAtOnce_withoutKeepingThem_andAnswersOthers", async () => {
    const before = await peak();
    const told = { "content-length": String(SIZE * MIB) };
    const bodies = Array.from({ length: BODIES }, (_, k) => statusOf(SIZE * MIB, k % 2 === 0 ? {} : told));
    // A request as most are is taken meanwhile, and refused for what it says.
    for (let k = 0; k < 20; k++) expect(await statusOf(1_000)).to.equal(400);
    const statuses = await Promise.all(bodies);
    expect(new Set(statuses.filter((_, k) => k % 2 === 1))).to.deep.equal(new Set([413]));
    // One that does not say its size may find no room before it is known to be too large.
    for (const status of statuses) expect([413, 503]).to.include(status);
    const grown = (await peak()) - before;
    if (process.env.REFUTE_SHOW) console.log(`${BODIES} bodies of ${SIZE} MiB: ${before} MiB, and ${grown} more`);
    expect(grown).to.be.below(ROOM);
    expect(BODIES * SIZE).to.be.above(2 * ROOM);
  });
});
