import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parseEther, type Address, type Hex } from "viem";
import { writeAddressFile } from "../../src/deploy/network/writeAddressFile.ts";
import { referencesIn } from "../../src/chain/market/references.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { packInputs } from "../../src/parties/requester/postJob.ts";
import type { WorkerEvent } from "../../src/parties/worker/events.ts";
import { SealBook } from "../../src/parties/worker/sealBook.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { first, Players, reference, type Running } from "../../testkit/players/players.ts";
import { refute } from "./refute.ts";
import { itAtLength, itInTime } from "../../testkit/atLength.ts";

type Answer = { panel: Hex; outcome: string; finals: number; root?: Hex; seats: { phase: string; jobId: Hex }[] };

describe("refute deploy panel, panel post and panel result", function () {
  this.timeout(120_000);
  const program = mlpProgram();
  let folder: string;
  let players: Players;
  let rpc: Awaited<ReturnType<typeof serveRpc>>;
  let env: Record<string, string>;
  let panel: Address;
  let ask: string[];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    players = await Players.create();
    const { chain } = players;
    rpc = await serveRpc(chain.provider);
    const key = await chain.newAccount(parseEther("5"));
    env = {
      ...{ REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(chain.chainId), REFUTE_MARKET: chain.market },
      REFUTE_PRIVATE_KEY: key,
    };
    const [model, input] = [join(folder, "mlp.onnx"), join(folder, "x.bin")];
    writeFileSync(model, mlpBytes());
    writeFileSync(input, mlpInput(1));
    ask = ["panel", "post", model, "--input", `x=${input}`, "--fee", "0.1"];
    writeAddressFile(folder, (await chain.sessionOf(key)).deployment, 1n);
    const deployed = await refute(["deploy", "panel", "--folder", folder, "--confirmations", "1", "--json"], env);
    expect(deployed.status, deployed.output).to.equal(0);
    const made = JSON.parse(deployed.stdout) as { panel: Address; addressFile: string };
    panel = made.panel;
    const { contracts } = JSON.parse(readFileSync(made.addressFile, "utf8")) as { contracts: Record<string, string> };
    expect(contracts.panel).to.equal(panel);
    env.REFUTE_PANEL = panel;
  });
  after(async () => {
    await rpc.close();
    await players.chain.close();
    rmSync(folder, { recursive: true });
  });

  const say = (...args: string[]) => refute(args, env);

  /** Lets so many new workers, beside others that have sealed, serve seats until the command has ended. */
  async function served<T>(command: Promise<T>, workers: number, others: Running<WorkerEvent>[] = []): Promise<T> {
    const running = await Promise.all(
      Array.from({ length: workers }, async () => {
        const key = await players.workerKey();
        const seals = await SealBook.at(join(folder, `${key.slice(2, 20)}.db`));
        return { seals, worker: await players.startWorker(key, program, reference(), { seals }) };
      }),
    );
    const sealed = await Promise.all(running.map(({ worker }) => first(worker, "sealed")));
    const now = await players.chain.now();
    await players.chain.advance(sealed[0]!.openFrom - Number(now));
    await Promise.all([...others, ...running.map(({ worker }) => worker)].map((one) => first(one, "submitted")));
    await players.chain.advance(2_400);
    const result = await command;
    for (const { worker, seals } of running) {
      await worker.stop();
      seals.close();
    }
    return result;
  }

  itInTime("threeSeats_areFollowedUntilTheResultSurvives", async () => {
    const { status, stdout, stderr, output } = await served(say(...ask, "--seats", "3", "--wait", "--json"), 3);
    expect(status, output).to.equal(0);
    const answer = JSON.parse(stdout) as Answer;
    expect([answer.outcome, answer.finals]).to.deep.equal(["survived", 3]);
    expect(answer.seats.map(({ phase }) => phase)).to.deep.equal(["final", "final", "final"]);
    expect(stderr).to.match(/takes 0\.3 WETH in fees/);
    expect(stderr).to.match(new RegExp(`posts panel ${answer.panel}`));
    expect(stderr).to.match(/all seats agree: noted on chain/);
    const shown = await say("panel", "result", answer.panel, "--json");
    expect(JSON.parse(shown.stdout)).to.deep.equal(answer);
    const text = await say("panel", "result", answer.panel);
    expect(text.stdout).to.match(/survived: all claims that are final are of this result, 3 of 3 seats final/);
  });

  itAtLength("seatThatIsAdded_isDrawnByThePoster_andPaidFromTheKeptFee", async () => {
    const command = say(...ask, "--seats", "1", "--audit", "100%", "--claim-seconds", "1900", "--wait", "--json");
    const key = await players.workerKey();
    const seals = await SealBook.at(join(folder, "first.db"));
    const worker = await players.startWorker(key, program, reference(), { seals });
    await first(worker, "sealed");
    await players.chain.advance(3_801);
    const { status, stdout, stderr, output } = await served(command, 1, [worker]);
    await worker.stop();
    seals.close();
    expect(status, output).to.equal(0);
    const answer = JSON.parse(stdout) as Answer;
    expect([answer.outcome, answer.seats.length]).to.deep.equal(["survived", 2]);
    expect(stderr).to.match(/a seat was added: the draw said so/);
  });

  itInTime("panelThatNobodyServes_fails_withStatus1_andTheFeesComeBack", async () => {
    const posted = await say(...ask, "--seats", "2", "--json");
    const { panel: id } = JSON.parse(posted.stdout) as Answer;
    await players.chain.advance(3_700);
    const { status, stdout, stderr } = await say("panel", "result", id, "--wait", "--json");
    expect(status).to.equal(1);
    expect((JSON.parse(stdout) as Answer).outcome).to.equal("failed");
    expect(stderr).to.match(/took out 0\.2 of the stake asset/);
    expect(stderr).to.match(/"code":"VERDICT"/);
  });

  itInTime("whatCannotBe_isRefused_andNothingIsSent", async () => {
    for (const [args, why] of [
      [[...ask, "--seats", "17"], /--seats 17: expected a whole number from 1 to 16/],
      [[...ask, "--audit", "10%"], /--audit also needs --wait/],
      [[...ask, "--agreed"], /--agreed also needs --wait/],
      [[...ask, "--audit", "110%", "--wait"], /--audit 110%: expected a part such as 10% or 0\.1/],
      [[...ask, "--seal-seconds", "1000"], /--seal-seconds 1000: expected at least \d+, 120 more than --claim-seconds/],
    ] as const) {
      const { status, stderr } = await say(...args);
      expect(status, stderr).to.equal(2);
      expect(stderr).to.match(why);
    }
    const unknown = await say("panel", "result", `0x${"12".repeat(32)}`);
    expect(unknown.status).to.equal(1);
    expect(unknown.stderr).to.match(/no panel 0x1212.* since block .*\[PANEL_UNKNOWN\]/);
    const elsewhere = await say("panel", "result", `0x${"12".repeat(32)}`, "--panel", players.chain.market);
    expect(elsewhere.stderr).to.match(/has no panels on the market/);
  });

  itInTime("inputsThatLieElsewhere_areNamedByTheTransactionThatPosts", async () => {
    const file = packInputs(describeProgram(program), [mlpInput(2)]);
    const server = createServer((_, response) => void response.end(file));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const input = join(folder, "other.bin");
    writeFileSync(input, mlpInput(2));
    const asked = ask.map((arg) => (arg.startsWith("x=") ? `x=${input}` : arg));
    const named = [...asked, "--seats", "2", "--reference", `http://${host}/inputs.bin`, "--json"];
    const refused = await say(...named);
    expect([refused.status === 0, refused.stderr]).to.satisfy(
      ([is, why]: [boolean, string]) => !is && /refused/.test(why),
    );
    const { status, stdout, output } = await say(...named, "--input-hosts", host);
    server.close();
    expect(status, output).to.equal(0);
    const { jobs } = JSON.parse(stdout) as { jobs: Hex[] };
    const session = await players.chain.newSession();
    const { history } = await followMarket(session)();
    expect(jobs).to.have.length(2);
    for (const id of jobs) {
      const { job, postedIn } = history.jobs.get(id)!;
      const { input: calldata } = await session.publicClient.getTransaction({ hash: postedIn });
      expect([job.rootOnly, referencesIn(calldata).length]).to.deep.equal([true, 1]);
    }
  });
});
