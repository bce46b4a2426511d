import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { numberToHex, parseEther, type Hex } from "viem";
import { refute } from "./refute.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { Players } from "../../testkit/players/players.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";

/** An account without jobs. */
const NOBODY = `0x${"70".repeat(20)}`;

describe("refute, the fee of a job", function () {
  let folder: string;
  let players: Players;
  let rpc: Awaited<ReturnType<typeof serveRpc>>;
  let submitArgs: string[];
  let key: Hex;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    const [model, input] = [join(folder, "mlp.onnx"), join(folder, "x.bin")];
    writeFileSync(model, mlpBytes());
    writeFileSync(input, mlpInput(1));
    submitArgs = ["submit", model, "--input", `x=${input}`];
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
  const ledger = async (): Promise<string> =>
    (await say("status", "--account", players.addressOf(key), "--json")).stdout;

  it("tooSmallAWindow_isRefused_andNothingIsDeposited", async () => {
    const before = await ledger();
    const { status, stderr } = await say(...submitArgs, "--fee", "0.1", "--window", "5");
    expect(status).to.equal(2);
    expect(stderr).to.match(/--window\) of 5 s: this deployment takes \d+ to \d+ s .*\[JOB_TERMS\]/);
    expect(await ledger()).to.equal(before);
  });

  it("collateralBelowTheDeployments_isRefused_inWholeUnits", async () => {
    const { status, stderr } = await say(...submitArgs, "--fee", "0.1", "--collateral", "0.1");
    expect(status).to.equal(2);
    expect(stderr).to.match(/--collateral 0\.1 is below 1\.8, what each claim .*\[USAGE\]/);
  });

  it("status_hasUnits_ofAssetGasAndTime", async () => {
    const { output } = await say("status");
    expect(output)
      .to.match(/^bond +[\d.]+ WETH$/m)
      .and.match(/^collateral +1\.8 WETH$/m);
    expect(output)
      .to.match(/^priceCap +[\d.]+ gwei a gas$/m)
      .and.match(/^baseClock +\d+ (s|min)$/m);
    const quote = (await say("job", "quote", submitArgs[1]!)).output;
    expect(quote)
      .to.match(/^posting +[\d.]+ ether: /m)
      .and.match(/^fee +at least [\d.]+ WETH: /m);
    expect(quote).to.match(/a bond of [\d.]+ WETH/);
  });

  it("deadlineThatTheMarketRefuses_isRefused_andNothingIsDeposited", async () => {
    const before = await ledger();
    const { status, stderr } = await say(...submitArgs, "--fee", "0.1", "--deadline-seconds", "3000d");
    expect(status, stderr).to.equal(1);
    expect(stderr).to.match(/DeadlineTooFar.*\[CONTRACT_REVERT\]/);
    expect(await ledger()).to.equal(before);
  });

  it("feeAboveTheTokens_saysWhatIsMissing_andNothingIsDeposited", async () => {
    const before = await ledger();
    const { status, stderr } = await say(...submitArgs, "--fee", "1000");
    expect(status).to.equal(1);
    expect(stderr).to.match(/holds 1 of the stake asset .*, not 1000: send it 999 more \[SHORT_OF_FUNDS\]/);
    expect(await ledger()).to.equal(before);
  });

  it("gasThatTheAccountCannotPay_isRefused_andNothingIsSent", async () => {
    const own = key;
    key = await players.chain.newAccount(parseEther("1"));
    const { publicClient, sender } = await players.chain.sessionOf(key);
    const sent = await publicClient.getTransactionCount({ address: sender.address });
    // Enough for the first transaction, and not for all.
    const params = [sender.address, numberToHex(150_000n * (await publicClient.getGasPrice()))];
    await players.chain.provider.request({ method: "hardhat_setBalance", params });
    const { status, stderr } = await say(...submitArgs, "--fee", "0.1");
    key = own;
    expect(status, stderr).to.equal(1);
    expect(stderr).to.match(/of the native token, and posting may take .*nothing was sent \[INSUFFICIENT_GAS_FUNDS\]/);
    expect(await publicClient.getTransactionCount({ address: sender.address })).to.equal(sent);
  });

  it("cancel_givesTheFeeBack_once_andOnlyToItsRequester", async () => {
    const posted = await say(...submitArgs, "--fee", "50000000gwei", "--json");
    expect(posted.status, posted.output).to.equal(0);
    const { job } = JSON.parse(posted.stdout) as { job: string };
    const own = key;
    key = await players.chain.newAccount();
    const stranger = await say("job", "cancel", job);
    key = own;
    expect(stranger.stderr).to.match(/only it may cancel \[JOB_STATE\]/);
    const cancelled = await say("job", "cancel", job, "--json");
    expect(cancelled.status, cancelled.output).to.equal(0);
    expect(JSON.parse(cancelled.stdout)).to.include({ credit: "0.05" });
    for (const command of ["cancel", "expire"])
      expect((await say("job", command, job)).stderr).to.match(/closed already; its fee went back \[JOB_STATE\]/);
    expect((await say("job", "reclaim", job)).stderr).to.match(/has no final result.*\[JOB_STATE\]/);
    expect((await say("job", "cancel", `0x${"ab".repeat(32)}`)).stderr).to.contain("[JOB_UNKNOWN]");
  });

  it("expire_beforeItsTime_saysWhen_andAfterIt_closesTheJob", async () => {
    const { stdout } = await say(...submitArgs, "--fee", "0.05", "--deadline-seconds", "2h", "--json");
    const { job } = JSON.parse(stdout) as { job: string };
    const early = await say("job", "expire", job);
    expect(early.status).to.equal(3);
    expect(early.stderr).to.match(/in time until \d{4}-.*Z: run this again after that \[NOT_READY\]/);
    await players.chain.advance(7_200);
    const { status, output } = await say("job", "expire", job);
    expect(status, output).to.equal(0);
    expect(output).to.contain("credit 0.05 WETH");
  });

  it("programThatNobodyServes_isWarnedOf_andPosted", async () => {
    const post = async (...args: string[]): Promise<string> => {
      const { status, stderr } = await say("submit", ...args, "--fee", "0.01");
      expect(status, stderr).to.equal(0);
      return stderr;
    };
    const mlp = submitArgs.slice(1);
    expect(await post(...mlp)).to.match(/warning: no account has the stake/);
    const worker = await players.chain.sessionOf(await players.workerKey());
    // Nobody can know on a market without claims.
    expect(await post(...mlp)).to.not.match(/warning: no /);
    const { job } = await players.post(mlpProgram(), [mlpInput(2)]);
    await worker.market.claim(job);
    expect(await post(...mlp)).to.not.match(/warning: no /);
    const other = join(folder, "other.onnx");
    writeFileSync(other, mlpBytes(2));
    expect(await post(other, ...mlp.slice(1))).to.match(
      /warning: no worker has taken a job of this program in the latest \d+ blocks, and 1 job/,
    );
  });

  it("ownJobs_areListed_andAJobTellsWhatHappenedToIt", async () => {
    const requester = players.addressOf(key);
    const { job } = JSON.parse((await say(...submitArgs, "--fee", "0.05", "--json")).stdout) as { job: string };
    const listed = JSON.parse((await say("job", "list", "--json")).stdout) as { jobs: object[]; total: number };
    expect(listed).to.include({ requester, total: listed.jobs.length });
    expect(listed.jobs.at(-1)).to.include({ job, fee: "0.05", status: "open" });
    const lines = (await say("job", "list", "--last", "1", "--requester", requester)).output;
    expect(lines)
      .to.include(job)
      .and.match(/0\.05 WETH/);
    expect((await say("job", "list", "--requester", NOBODY)).output).to.contain(`no job by ${NOBODY}`);
    expect((await say("job", "cancel", job)).status).to.equal(0);
    const told = JSON.parse((await say("status", job, "--json")).stdout) as { events: { event: string }[] };
    expect(told).to.include({ requester, fee: "0.05", status: "closed" });
    expect(told.events.map(({ event }) => event)).to.deep.equal(["JobPosted", "JobClosed"]);
    const text = (await say("status", job)).output;
    expect(text)
      .to.match(/^fee +0\.05 WETH$/m)
      .and.match(/^\d{4}-\S+Z +posted +0x[0-9a-f]{64}$/m);
  });
});
