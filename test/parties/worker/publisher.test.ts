import { connect } from "node:net";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { numberToHex, type Hex } from "viem";
import type { Executions } from "../../../src/runs/executions.ts";
import type { ClaimRecord, JobRecord } from "../../../src/chain/market/history.ts";
import { TracePublisher } from "../../../src/parties/worker/publisher.ts";

const STEPS = 3;
/** Requests that a publisher takes. */
const AT_ONCE = 4;
const TENSOR = new Uint8Array(8 * 2 ** 20).fill(7);
const id = (n: number): Hex => numberToHex(n, { size: 32 });

/** Executions of which none is kept: each tensor takes one. They wait for a gate. */
class Slow {
  running = 0;
  maximum = 0;
  done = 0;
  gate: Promise<unknown> = Promise.resolve();

  async tensor(_job: JobRecord, _item: number, step: number): Promise<Uint8Array | undefined> {
    this.maximum = Math.max(this.maximum, ++this.running);
    await this.gate;
    await sleep(1);
    this.running--;
    this.done++;
    return step < STEPS ? TENSOR : undefined;
  }
}

describe("TracePublisher", () => {
  let publisher: TracePublisher;
  afterEach(() => publisher.close());

  /** A publisher of claim 1, which can be disputed, 2, which is final, and 3, which is refuted. */
  async function publishing(patienceMs?: number): Promise<{ slow: Slow; port: number }> {
    const slow = new Slow();
    publisher = new TracePublisher(patienceMs);
    const claims = [1, 2, 3].map((n) => ({ id: id(n), finalised: n === 2, refuted: n === 3 }) as ClaimRecord);
    const published = new Map(claims.map((claim) => [claim.id, { claims: [claim] } as JobRecord]));
    publisher.publish(published, slow as unknown as Executions);
    return { slow, port: await publisher.listen(0) };
  }
  const ask = async (port: number, path: string): Promise<[status: number, bytes: number]> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return [response.status, (await response.arrayBuffer()).byteLength];
  };

  it("flood_takesOneExecutionAtATime_andWhatIsTooMuchIsRefusedAtOnce", async () => {
    const { slow, port } = await publishing();
    let open: (() => void) | undefined;
    slow.gate = new Promise<void>((resolve) => void (open = resolve));
    let refused = 0;
    const asked = Array.from({ length: 40 }, async (_, k) => {
      const [status, bytes] = await ask(port, `/${id(1)}/0/${k % STEPS}`);
      if (status === 503 && ++refused === 40 - AT_ONCE) open?.();
      return status === 503 ? 0 : bytes;
    });
    const bytes = await Promise.all(asked);
    expect(bytes.filter((length) => length === TENSOR.length).length).to.equal(AT_ONCE);
    expect([refused, slow.maximum, slow.done]).to.deep.equal([40 - AT_ONCE, 1, AT_ONCE]);
    expect((await ask(port, `/${id(1)}/0/0`))[0]).to.equal(200);
  });

  it("claimPastDispute_unknownClaim_andStep_areNotThere", async () => {
    const { slow, port } = await publishing();
    const statusOf = async (path: string) => (await ask(port, path))[0];
    for (const claim of [2, 3, 4]) expect(await statusOf(`/${id(claim)}/0/0`)).to.equal(404);
    expect(slow.done).to.equal(0);
    expect(await statusOf(`/${id(1)}/0/${STEPS}`)).to.equal(404);
    expect(await statusOf(`/${id(1)}/0/${STEPS - 1}`)).to.equal(200);
  });

  it("answersThatNobodyReads_areGivenUp", async () => {
    const { port } = await publishing(50);
    const idle = Array.from({ length: AT_ONCE }, () => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.pause().write(`GET /${id(1)}/0/0 HTTP/1.1\r\nhost: x\r\n\r\n`);
      return socket;
    });
    await Promise.all(idle.map((socket) => once(socket, "connect")));
    let status = 0;
    for (let tries = 0; status !== 200 && tries < 500; tries++) {
      [status] = await ask(port, `/${id(1)}/0/0`).catch(() => [0]);
      if (status !== 200) await sleep(10);
    }
    expect(status).to.equal(200);
    for (const socket of idle) socket.destroy();
  });
});
