import { buildModule } from "@nomicfoundation/ignition-core";
import { DEFAULT_CLAIM_LIFETIME, DEFAULT_DEPOSIT_DELAY, DEFAULT_EXAM_LIFETIME } from "../defaults.ts";

/** The parameters of a market, by their names: those of pledged claims beside it are the same, but for the sink. */
const PARAMETERS = [
  ...["baseWindow", "maxWindow", "baseClock", "withdrawalDelay", "rate", "maxWork", "arityBits", "maxStepGas"],
  ...["maxStepBytes", "bondGas", "priceCap", "bounty", "collateral", "penaltyBps"],
];

/**
 * Deploys pledged claims and their tickets beside a market: with a vault and a game of their own, and with the market's
 * asset, provisioning and checker. With exams, wrong roots of these can be challenged too.
 *
 * Parameters: those of the market, and `asset`, `provisioning`, `checker`; optional `claimLifetime` and `depositDelay`,
 * seconds; with exams `exams`, and optional `examLifetime`, seconds.
 * @param claimsCode What the pledged claims are created with, without arguments.
 * @param withExams Whether there are exams, of the parameter `exams`.
 */
export const ticketsModule = (claimsCode: string, withExams = false) =>
  buildModule("Tickets", (m) => {
    const [asset, provisioning] = [m.getParameter("asset"), m.getParameter("provisioning")];
    const lifetime = m.getParameter("claimLifetime", DEFAULT_CLAIM_LIFETIME);
    const deployer = m.contract("ClaimsDeployer");
    // The vault, the game and the tickets name the claims, which are deployed after them at this address.
    const address = m.staticCall(deployer, "reserved");
    const parameters = {
      ...Object.fromEntries(PARAMETERS.map((name) => [name, m.getParameter(name)])),
      // What games leave stays there for the other games about the same worker.
      sink: address,
    };
    const vault = m.contract("StakeVault", [asset, provisioning, m.getParameter("withdrawalDelay"), address]);
    const game = m.contract("DisputeGame", [address, m.getParameter("checker"), parameters]);
    const tickets = m.contract("Tickets", [
      address,
      asset,
      lifetime,
      m.getParameter("depositDelay", DEFAULT_DEPOSIT_DELAY),
    ]);
    const examClaims = withExams ? m.contract("ExamClaims", [m.getParameter("exams"), address]) : undefined;
    const authorisers = [
      { account: tickets, lifetime },
      ...(examClaims === undefined
        ? []
        : [{ account: examClaims, lifetime: m.getParameter("examLifetime", DEFAULT_EXAM_LIFETIME) }]),
    ];
    const sink = m.getParameter("sink");
    const deployed = m.call(deployer, "deploy", [claimsCode, vault, game, authorisers, sink, parameters]);
    const claims = m.contractAt("PledgedClaims", address, { after: [deployed] });
    return { deployer, vault, game, tickets, claims, ...(examClaims !== undefined && { examClaims }) };
  });
