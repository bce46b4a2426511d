import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { keccak256, parseEther, stringToHex, zeroHash, type Hex } from "viem";
import { followMarket } from "../../src/chain/market/session.ts";
import { termsHashOf } from "../../src/chain/market/ids.ts";
import { refute } from "./refute.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, Players, reference } from "../../testkit/players/players.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";

const OTHER = `0x${"22".repeat(20)}` as const;

describe("refute, terms of a job", function () {
  let folder: string;
  let players: Players;
  let rpc: Awaited<ReturnType<typeof serveRpc>>;
  let key: Hex;
  let submitArgs: string[];
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    const [model, input] = [join(folder, "mlp.onnx"), join(folder, "x.bin")];
    writeFileSync(model, mlpBytes());
    writeFileSync(input, mlpInput(1));
    submitArgs = ["submit", model, "--input", `x=${input}`, "--fee", "0.1", "--json"];
    players = await Players.create();
    rpc = await serveRpc(players.chain.provider);
    key = await players.chain.newAccount(parseEther("1"));
  });
  after(async () => {
    await rpc.close();
    await players.chain.close();
    rmSync(folder, { recursive: true });
  });

  const say = (...args: string[]) => {
    const { chainId, market } = players.chain;
    const network = { REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(chainId), REFUTE_MARKET: market };
    return refute(args, { ...network, REFUTE_PRIVATE_KEY: key });
  };
  const recordOf = async (stdout: string) => {
    const { job } = JSON.parse(stdout) as { job: Hex };
    const { history } = await followMarket(await players.chain.sessionOf(key))();
    return history.jobs.get(job)!;
  };

  it("everyFlag_isATermOfTheJob", async () => {
    const { status, stdout, output } = await say(
      ...[...submitArgs, "--collateral", "3", "--reserved-for", OTHER, "--group", "panel", "--spread", "20"],
      ...["--early-accept", "--staked-since", "1700000000", "--max-refuted", "0", "--max-late", "2"],
      ...["--manufacturer", `0x${"01".repeat(32)}`, "--class", `${OTHER}:3`],
      ...["--answer", "--proof-key", `0x${"02".repeat(32)}`],
    );
    expect(status, output).to.equal(0);
    const { job, terms } = await recordOf(stdout);
    expect(terms).to.deep.equal({
      collateral: parseEther("3"),
      reservedFor: OTHER,
      group: keccak256(stringToHex("panel")),
      spread: 20,
      openFrom: 0,
      earlyAccept: true,
      since: 1_700_000_000,
      maxRefuted: 0,
      maxLate: 2,
      manufacturer: `0x${"01".repeat(32)}`,
      keyHash: `0x${"02".repeat(32)}`,
      classes: OTHER,
      class: 3,
    });
    expect(job.termsHash).to.equal(termsHashOf(terms!));
  });

  it("withoutSuchFlags_theJobHasNoTerms", async () => {
    const { stdout } = await say(...submitArgs);
    const { job, terms } = await recordOf(stdout);
    expect([job.termsHash, terms]).to.deep.equal([zeroHash, undefined]);
  });

  it("termsThatMeanNothing_areRefused_beforeAnythingIsSent", async () => {
    for (const [flag, value, why] of [
      ["--reserved-for", "0x12", /--reserved-for 0x12: expected an address/],
      ["--spread", "256", /--spread 256: expected a whole number from 0 to 255/],
      ["--class", OTHER, /expected a contract's address and the number of a class/],
      ["--class", `${OTHER}:x`, /expected a whole number from 0 to 255/],
      ["--max-late", "-1", /--max-late -1: expected a whole number/],
    ] as const) {
      const { status, stderr } = await say(...submitArgs, flag, value);
      expect(status, stderr).to.equal(2);
      expect(stderr).to.match(why);
    }
    const low = await say(...submitArgs, "--collateral", "0.1");
    expect(low.status).to.equal(2);
    expect(low.stderr).to.match(/"code":"USAGE",.*--collateral 0\.1 is below/);
  });

  it("workersThatTheTermsExclude_passTheJobBy_andWorkersAreListedWithTheirRecord", async () => {
    expect((await say("account", "workers")).stdout).to.equal("no worker has claimed a job yet");
    const program = mlpProgram();
    const [taking, passing] = [await players.workerKey(), await players.workerKey()];
    const reserved = players.addressOf(taking);
    const { stdout } = await say(...submitArgs, "--reserved-for", reserved, "--early-accept");
    const other = await players.startWorker(passing, program, reference());
    const worker = await players.startWorker(taking, program, reference());
    const { job } = JSON.parse(stdout) as { job: Hex };
    // Either may be the first to take the job of an earlier test, which anybody may.
    await first(worker, "submitted", ({ jobId }) => jobId === job);
    expect((await recordOf(stdout)).claims.map(({ claim }) => claim.worker)).to.deep.equal([reserved]);
    const { workers } = JSON.parse((await say("account", "workers", "--json")).stdout) as {
      workers: Record<string, unknown>[];
    };
    const own = workers.find((entry) => entry.worker === reserved);
    expect(own).to.include({ refuted: 0, late: 0, live: true, finalised: 0 });
    expect((await say("account", "workers")).stdout).to.match(
      new RegExp(`${reserved} .*staked, .* locked .*refuted 0, late 0`),
    );
    await Promise.all([worker.stop(), other.stop()]);
  });
});
