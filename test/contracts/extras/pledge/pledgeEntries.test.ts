import { expect } from "chai";
import { artifacts } from "hardhat";
import { bytesToHex, getAddress, keccak256, toHex, zeroAddress, zeroHash, type Address, type Hex } from "viem";
import { ClaimStatus, PledgeStatus, type Claim, type Parameters } from "../../../../src/chain/structs.ts";
import { submissionOf } from "../../../../src/dispute/workerMove.ts";
import { MerkleList } from "../../../../src/program/merkle/list.ts";
import type { KnownProgram } from "../../../../src/dispute/run/execution.ts";
import { runWork } from "../../../../src/program/run.ts";
import { RunInputs } from "../../../../src/program/trace/runInputs.ts";
import { apartAnswers, carriedAnswers } from "../../../../testkit/programs/answerPrograms.ts";
import { runInputBytes, runProgram } from "../../../../testkit/programs/runProgram.ts";
import { chainProgram } from "../../../../testkit/protocol/chainProgram.ts";
import { createPledgeWorld, LIFETIME, OTHER_LIFETIME, timeOf } from "../../../../testkit/protocol/pledgeWorld.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { claimId, claimKey, creditOf, factsOf, postedJob } from "../../../../testkit/protocol/world.ts";
import { ETHER, SINK } from "../../../../testkit/protocol/deployWorld.ts";

/** Where a header's fields begin, and their bytes (docs/program.md, "Header"). */
const FIELDS = { maxStepGas: [2, 4], maxStepBytes: [6, 4], work: [10, 8] } as const;
const subject = chainProgram(8, [1]);
const manyOutputs = (count: number) =>
  chainProgram(
    8,
    [1],
    Array.from({ length: count }, () => 0),
  );

describe("PledgedClaims: what is refused, and what is told", () => {
  const world = useWorld(() => createPledgeWorld());
  type Name = "worker" | "watcher" | "requester" | "mallory" | "stranger";
  const as = (name: Name) => ({ account: world()[name].account });
  const of = (name: Name): Address => getAddress(world()[name].account.address);
  const { emits, revert } = {
    emits: (sent: Promise<Hex>, name: string, args: unknown[]) =>
      world().viem.assertions.emitWithArgs(sent, world().claims, name as never, args as never),
    revert: (sent: Promise<unknown>, name: string, args: unknown[], contract: "claims" | "market" = "claims") =>
      world().viem.assertions.revertWithCustomErrorWithArgs(sent, world()[contract], name as never, args),
  };
  const entryOf = async (changes: object = {}) => ({
    program: factsOf(subject.commitment),
    inputRoots: [subject.inputsList.node(0, 0)],
    inputs: [] as Hex[],
    items: 1,
    firstItem: 0,
    answer: false,
    worker: of("worker"),
    requester: of("requester"),
    root: `0x${"ab".repeat(32)}` as const,
    issued: await timeOf(world()),
    salt: zeroHash,
    ...changes,
  });
  const enter = async (changes: object = {}, nodes: Hex = "0x", by: Name = "stranger") =>
    world().claims.write.enter([await entryOf(changes), nodes], as(by));
  /** Puts a claim on chain. */
  async function entered(changes: object = {}): Promise<Claim> {
    const hash = await enter(changes);
    const { collateral } = world().parameters;
    return { job: await postedJob(world(), hash), worker: of("worker"), root: `0x${"ab".repeat(32)}`, collateral };
  }

  describe("deployment", () => {
    type Plan = {
      vaultDelay: bigint;
      vaultMarket: Address;
      gameMarket: Address;
      gameChanges: Partial<Parameters>;
      changes: Partial<Parameters>;
      sink: Address;
      authorisers: { account: Address; lifetime: number }[];
    };

    /** What deploying claims with such parts says. */
    async function deployed(changes: Partial<Plan> = {}): Promise<string> {
      const { viem, token, provisioning, checker } = world();
      const deployer = await viem.deployContract("ClaimsDeployer");
      const address = await deployer.read.reserved();
      const parameters = { ...world().parameters, sink: address };
      const plan: Plan = {
        vaultDelay: BigInt(parameters.withdrawalDelay),
        vaultMarket: address,
        gameMarket: address,
        gameChanges: {},
        changes: {},
        sink: SINK,
        authorisers: [{ account: of("stranger"), lifetime: 1 }],
        ...changes,
      };
      const vault = await viem.deployContract("StakeVault", [
        token.address,
        provisioning.address,
        plan.vaultDelay,
        plan.vaultMarket,
      ]);
      const own = { ...parameters, ...plan.changes };
      const game = await viem.deployContract("DisputeGame", [
        plan.gameMarket,
        checker.address,
        { ...own, ...plan.gameChanges },
      ]);
      const { bytecode } = await artifacts.readArtifact("PledgedClaims");
      const args = [vault.address, game.address, plan.authorisers, plan.sink, own] as const;
      const outcome = await refusalOf(deployer.write.deploy([bytecode as Hex, ...args]));
      expect(await world().client.getCode({ address })).to.satisfy((code: unknown) =>
        outcome === "accepted" ? code !== undefined : code === undefined,
      );
      return outcome;
    }

    it("ofPartsThatFit_isTaken_andTellsThem", async () => {
      expect(await deployed()).to.equal("accepted");
      expect(await deployed({ authorisers: [] })).to.equal("accepted");
      const { claims, vault, game, tickets, parameters, checker, provisioning, token, bond, verifier } = world();
      expect(await claims.read.vault()).to.equal(getAddress(vault.address));
      expect(await claims.read.game()).to.equal(getAddress(game.address));
      expect(await claims.read.sink()).to.equal(getAddress(SINK));
      expect(await claims.read.lifetimeOf([tickets.address])).to.equal(BigInt(LIFETIME));
      expect(await claims.read.lifetimeOf([of("mallory")])).to.equal(0n);
      const reported = await claims.read.deployment();
      expect(reported.extension).to.equal(getAddress(claims.address));
      expect([reported.checker, reported.provisioning, reported.asset, reported.verifier, reported.bond]).to.deep.equal(
        [...[checker, provisioning, token, verifier].map(({ address }) => getAddress(address)), bond],
      );
      expect(reported.parameters).to.deep.equal({ ...parameters, sink: getAddress(parameters.sink) });
    });

    it("ofPartsThatDoNotFit_isRefused_andLeavesTheAddressFree", async () => {
      const other = of("mallory");
      for (const [name, changes] of [
        ["NotItsMarket", { vaultMarket: other }],
        ["NotItsMarket", { gameMarket: world().market.address }],
        ["OtherParameters", { vaultDelay: 172_801n }],
        ["OtherParameters", { gameChanges: { bounty: 1n } }],
        ["WrongSink", { changes: { sink: other } }],
        ["ZeroSink", { sink: zeroAddress }],
        ["AuthoriserTwice", { authorisers: [1, 2].map((lifetime) => ({ account: other, lifetime })) }],
        ["ZeroLifetime", { authorisers: [{ account: other, lifetime: 0 }] }],
        ["ZeroRate", { changes: { rate: 0n } }],
      ] satisfies [string, Partial<Plan>][])
        expect(await deployed(changes), name).to.include(name);
    });

    it("isItsDeployersOnly_once_andOfCodeOnly", async () => {
      const { viem, vault, game, parameters, client } = world();
      const deployer = await viem.deployContract("ClaimsDeployer");
      const { account } = world().deployer;
      const claims = await deployer.read.reserved();
      expect(await deployer.read.owner()).to.equal(getAddress(account.address));
      const args = [vault.address, game.address, [], SINK, parameters] as const;
      const send = (code: Hex, by = account) => deployer.write.deploy([code, ...args], { account: by });
      const { assertions } = viem;
      await assertions.revertWithCustomErrorWithArgs(send("0x00", world().mallory.account), deployer, "NotOwner", [
        of("mallory"),
        getAddress(account.address),
      ]);
      // A creation that leaves nothing is undone: the address is not used up.
      await assertions.revertWithCustomErrorWithArgs(send("0x00"), deployer, "NothingDeployed", [claims]);
      // A creation that says why it fails is heard.
      expect(await refusalOf(send("0x5f5ffd"))).to.not.equal("accepted");
      // One that leaves a byte of code: PUSH1 1, PUSH0, RETURN.
      await assertions.emitWithArgs(send("0x60015ff3"), deployer, "Deployed", [claims]);
      expect(await client.getCode({ address: claims })).to.equal("0x00");
      await assertions.revertWithCustomErrorWithArgs(send("0x60015ff3"), deployer, "AlreadyDeployed", [claims]);
    });
  });

  describe("pledges", () => {
    it("everyChange_isTold_andMovesTheCollateralOnly", async () => {
      const { claims, parameters, vault } = world();
      const { collateral } = parameters;
      const asked = (await timeOf(world())) + 10n;
      await world().networkHelpers.time.setNextBlockTimestamp(asked);
      const until = asked + BigInt(OTHER_LIFETIME);
      await emits(claims.write.requestRelease(as("worker")), "ReleaseRequested", [of("worker"), until]);
      await world().networkHelpers.time.increase(OTHER_LIFETIME + 1);
      await emits(claims.write.release(as("worker")), "PledgeReleased", [of("worker"), collateral]);
      expect(await vault.read.accountOf([of("worker")])).to.deep.equal([10n * ETHER, 10n * ETHER, 0n, 0n, 0n]);
      expect(await claims.read.pledgeOf([of("worker")])).to.deep.equal([PledgeStatus.none, 0n, 0n, 0n]);
      await emits(claims.write.pledge(as("worker")), "Pledged", [of("worker"), collateral]);
      expect(await claims.read.pledgeOf([of("worker")])).to.deep.equal([
        PledgeStatus.active,
        await timeOf(world()),
        0n,
        0n,
      ]);
    });

    it("release_isTooSoon_upToTheSecond", async () => {
      const { claims, networkHelpers } = world();
      await claims.write.requestRelease(as("worker"));
      const until = (await timeOf(world())) + BigInt(OTHER_LIFETIME);
      await networkHelpers.time.setNextBlockTimestamp(until);
      await revert(claims.write.release(as("worker")), "NotYet", [until]);
      await networkHelpers.time.setNextBlockTimestamp(until + 1n);
      await claims.write.release(as("worker"));
    });

    it("calls_inAStatusThatIsNotTheirs_areRefused", async () => {
      const { claims } = world();
      const { none, active, releasing, stopped } = PledgeStatus;
      await revert(claims.write.requestRelease(as("mallory")), "WrongPledgeStatus", [of("mallory"), none, active]);
      await revert(claims.write.release(as("mallory")), "WrongPledgeStatus", [of("mallory"), none, releasing]);
      await revert(claims.write.release(as("worker")), "WrongPledgeStatus", [of("worker"), active, releasing]);
      await revert(claims.write.sweep([of("worker")]), "WrongPledgeStatus", [of("worker"), active, stopped]);
      await revert(claims.write.pledge(as("worker")), "AlreadyPledged", [of("worker"), active]);
    });
  });

  describe("what the game alone may", () => {
    it("isRefusedToEverybodyElse", async () => {
      const { claims, vault, game } = world();
      const claim = await entered();
      const [id, key] = [claimId(world(), claim), claimKey(world(), claim)];
      for (const name of ["worker", "watcher", "requester", "mallory", "stranger"] as const) {
        const not = (sent: Promise<unknown>) => revert(sent, "NotGame", [of(name)], "market");
        await not(claims.write.gameOpened([key.jobId, id, of("mallory"), 1n], as(name)));
        await not(claims.write.pay([of("mallory"), 1n], as(name)));
        await not(claims.write.refuted([key, id], as(name)));
      }
      // Nor may anybody play the market of its vault.
      for (const sent of [
        vault.write.lock([of("worker"), 1n], as("mallory")),
        vault.write.unlock([of("worker"), 1n], as("worker")),
        vault.write.slash([of("worker"), 1n, false], as("mallory")),
        vault.write.take([of("worker"), 1n], as("mallory")),
        vault.write.give([of("mallory"), 1n], as("mallory")),
      ])
        await world().viem.assertions.revertWithCustomError(sent, vault, "NotMarket");
      expect((await claims.read.statusOf([id]))[0]).to.equal(ClaimStatus.submitted);
      expect((await game.read.claimGames([id]))[1]).to.equal(false);
    });

    it("gamesAboutClaimsThatDoNotStand_areNotOpened", async () => {
      const { claims, networkHelpers, game } = world();
      const asGame = { account: game.address };
      await networkHelpers.impersonateAccount(game.address);
      await networkHelpers.setBalance(game.address, ETHER);
      const claim = await entered();
      const [id, key] = [claimId(world(), claim), claimKey(world(), claim)];
      const open = (which: Hex) => claims.write.gameOpened([key.jobId, which, of("watcher"), 1n], asGame);
      await revert(open(zeroHash), "WrongClaimStatus", [zeroHash, ClaimStatus.none, ClaimStatus.submitted], "market");
      const [, windowEnd] = await claims.read.statusOf([id]);
      await networkHelpers.time.setNextBlockTimestamp(windowEnd);
      await open(id);
      await networkHelpers.time.setNextBlockTimestamp(windowEnd + 1n);
      await revert(open(id), "WindowClosed", [id, windowEnd], "market");
      await revert(
        claims.write.refuted([key, zeroHash], asGame),
        "WrongClaimStatus",
        [zeroHash, ClaimStatus.none, ClaimStatus.submitted],
        "market",
      );
      const before = await creditOf(world(), world().watcher);
      await claims.write.pay([of("watcher"), 1n], asGame);
      expect(await creditOf(world(), world().watcher)).to.equal(before + 1n);
      // More than there is is not given.
      await world().viem.assertions.revertWithCustomError(
        claims.write.pay([of("watcher"), 1n], asGame),
        world().vault,
        "InsufficientCustody",
      );
    });
  });

  describe("entries", () => {
    const patched = (field: keyof typeof FIELDS, value: bigint) => {
      const facts = factsOf(subject.commitment);
      const [at, bytes] = FIELDS[field];
      const header = Buffer.from(facts.header.slice(2), "hex");
      Buffer.from(value.toString(16).padStart(2 * bytes, "0"), "hex").copy(header, at);
      return { ...facts, header: bytesToHex(header) };
    };

    it("beyondTheLimitsOfEveryJob_areRefused", async () => {
      const { maxWork, maxStepGas, maxStepBytes } = world().parameters;
      const refused = (changes: object, name: string, args: unknown[]) => revert(enter(changes), name, args, "market");
      await refused({ items: 0 }, "ItemsOutOfRange", [0n, 65_536n]);
      await refused({ items: 65_537 }, "ItemsOutOfRange", [65_537n, 65_536n]);
      // The most that one item may have.
      const max = maxWork - runWork(1, 0n);
      await refused({ program: patched("work", max + 1n) }, "TooMuchWork", [maxWork + 1n, maxWork]);
      await refused({ program: patched("work", max), items: 2 }, "TooMuchWork", [2n * maxWork, maxWork]);
      const gas = maxStepGas + 1;
      await refused({ program: patched("maxStepGas", BigInt(gas)) }, "StepProofTooLarge", [gas, maxStepGas]);
      const bytes = maxStepBytes + 1;
      await refused({ program: patched("maxStepBytes", BigInt(bytes)) }, "StepProofTooLong", [bytes, maxStepBytes]);
      await enter({ program: patched("work", max) });
      const long = manyOutputs(150).commitment;
      await refused({ program: factsOf(long) }, "HeaderTooLong", [BigInt(long.header.length), 2_048n]);
      await refused({ program: factsOf(manyOutputs(65).commitment) }, "TooManyOutputs", [65n, 64n]);
      await refused({ program: factsOf(manyOutputs(17).commitment), answer: true }, "TooManyAnswers", [17n, 16n]);
      await enter({ program: factsOf(manyOutputs(17).commitment) });
    });

    it("atTheLimits_areTaken", async () => {
      const { maxStepGas, maxStepBytes } = world().parameters;
      await enter({ items: 65_536, program: patched("work", 1n) });
      await enter({ program: patched("maxStepGas", BigInt(maxStepGas)) });
      await enter({ program: patched("maxStepBytes", BigInt(maxStepBytes)) });
      await enter({ program: factsOf(manyOutputs(64).commitment) });
    });

    it("comeWithTheNodesOfTheirRoot", async () => {
      const hashes = Array.from({ length: 33 }, (_, k): Hex => keccak256(toHex(k)));
      const { arityBits } = world().parameters;
      const three = chainProgram(8, [1, 1, 1]);
      const of = { program: factsOf(three.commitment), inputRoots: [three.inputsList.node(0, 0)] };
      for (const [width, form, changes] of [
        // A trace's checkpoints, a run's items, an answer's outputs.
        [3, "trace", of],
        [5, "trace", { ...of, items: 5 }],
        // Of a longer run the first nodes only.
        [33, "trace", { ...of, items: 33 }],
        [16, "answer", { program: factsOf(manyOutputs(16).commitment), answer: true }],
      ] as const) {
        const list = MerkleList.fromHashes(hashes.slice(0, width));
        const nodes = submissionOf(list, arityBits, form);
        const root = keccak256(list.root);
        await revert(enter({ ...changes, root }, nodes), "WrongClaimRoot", [root, list.root]);
        await enter({ ...changes, root: list.root }, nodes);
      }
    });

    it("ofRuns_whoseItemsCarryState_areAnswersOfTheLastItemOnly", async () => {
      const entry = async (program: KnownProgram, changes: object) => {
        const { inputs } = program.model.program;
        const roots = inputs.map(({ source }, k): Hex => (source?.kind === "index" ? zeroHash : keccak256(toHex(k))));
        const claim = { program: factsOf(program.commitment), inputRoots: roots, answer: true, ...changes };
        const outputs = program.model.program.outputs.map((_, k): Hex => keccak256(toHex(k)));
        const list = MerkleList.fromHashes(outputs);
        return enter({ ...claim, root: list.root }, submissionOf(list, 0, "answer"));
      };
      await revert(entry(runProgram(), { items: 2 }), "AnswerOfCarriedItems", [1n], "market");
      await entry(runProgram(), { items: 1 });
      await entry(carriedAnswers(), { items: 2 });
      await entry(apartAnswers(), { items: 2 });
      const index = { items: 2, inputRoots: [0, 1, 2, 3].map((k): Hex => keccak256(toHex(k))) };
      await revert(entry(apartAnswers(), index), "WrongInputRoot", [3n, index.inputRoots[3], zeroHash], "market");
    });

    it("withInputsThatAreNotRead_orZeroAtFirst_areWithoutTheirBytes", async () => {
      const { model, commitment } = carriedAnswers();
      const { inputs } = model.program;
      const bytes = runInputBytes(1);
      const zeros = new Uint8Array(bytes[0]!.length);
      const run = new RunInputs(inputs, { items: 1, firstItem: 0 }, [zeros, ...bytes.slice(1)]);
      const whole = run.bytes.map((each, k): Hex => (k === 0 || k === 3 ? "0x" : bytesToHex(each)));
      const of = { program: factsOf(commitment), inputRoots: [...run.roots] };
      await revert(
        enter({ ...of, inputs: [bytesToHex(zeros), ...whole.slice(1)] }),
        "WrongInputLength",
        [0n, BigInt(zeros.length), 0n],
        "market",
      );
      const ofIndex = [...whole.slice(0, 3), "0x00"];
      await revert(enter({ ...of, inputs: ofIndex }), "WrongInputLength", [3n, 1n, 0n], "market");
      await enter({ ...of, inputs: whole });
    });

    it("withOtherInputsThanTheProgram_areRefused", async () => {
      const root = subject.inputsList.node(0, 0);
      const bytes: Hex = `0x${Buffer.from(subject.input).toString("hex")}`;
      const refused = (changes: object, name: string, args: unknown[]) => revert(enter(changes), name, args, "market");
      await refused({ inputRoots: [] }, "WrongInputCount", [0n, 1n]);
      await refused({ inputRoots: [root, root] }, "WrongInputCount", [2n, 1n]);
      await refused({ inputs: [bytes, bytes] }, "WrongInputCount", [2n, 1n]);
      await refused({ inputs: [`${bytes}00`] }, "WrongInputLength", [0n, 33n, 32n]);
      await refused({ inputs: ["0x"] }, "WrongInputLength", [0n, 0n, 32n]);
      await refused({ inputs: [bytes], inputRoots: [zeroHash] }, "WrongInputRoot", [0n, zeroHash, root]);
      await enter({ inputs: [bytes] });
    });

    it("areDated_upToTheSecond_andTellWhenTheyEnd", async () => {
      const { networkHelpers, claims } = world();
      const issued = await timeOf(world());
      await networkHelpers.time.setNextBlockTimestamp(issued + BigInt(OTHER_LIFETIME));
      await claims.write.enter([await entryOf({ issued }), "0x"], as("stranger"));
      const late = await timeOf(world());
      const entry = await entryOf({ issued: late });
      await networkHelpers.time.setNextBlockTimestamp(late + BigInt(OTHER_LIFETIME) + 1n);
      await revert(claims.write.enter([entry, "0x"], as("stranger")), "LifetimeOver", [
        late,
        late + BigInt(OTHER_LIFETIME),
      ]);
      const now = await timeOf(world());
      await networkHelpers.time.setNextBlockTimestamp(now + 5n);
      const ahead = await entryOf({ issued: now + 6n });
      await revert(claims.write.enter([ahead, "0x"], as("stranger")), "NotIssuedYet", [now + 6n]);
    });

    it("ofOneAuthoriser_areNotThoseOfAnother_andCountForThePledge", async () => {
      const { claims } = world();
      const claim = await entered();
      expect((await claims.read.pledgeOf([of("worker")]))[2]).to.equal(1n);
      await entered({ salt: `0x${"01".repeat(32)}` });
      expect((await claims.read.pledgeOf([of("worker")]))[2]).to.equal(2n);
      const [status, windowEnd, worker] = await claims.read.statusOf([claimId(world(), claim)]);
      expect([status, worker]).to.deep.equal([ClaimStatus.submitted, of("worker")]);
      await revert(claims.write.finalise([claim]), "WindowOpen", [claimId(world(), claim), windowEnd], "market");
      await world().networkHelpers.time.setNextBlockTimestamp(windowEnd + 1n);
      await world().viem.assertions.emitWithArgs(claims.write.finalise([claim]), world().market, "ClaimFinalised", [
        claimKey(world(), claim).jobId,
        claimId(world(), claim),
      ]);
      const unknown = { ...claim, root: zeroHash };
      const none = [claimId(world(), unknown), ClaimStatus.none, ClaimStatus.submitted];
      await revert(claims.write.finalise([unknown]), "WrongClaimStatus", none, "market");
    });
  });
});
