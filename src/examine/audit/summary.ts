import type { Verdict } from "./elementAuditor.ts";

/** The findings of an audit. Tampering counts include only the attempted changes. */
export type AuditSummary = {
  clean: boolean;
  samples: number;
  agreements: number;
  disagreements: Verdict[];
  claims: { tampered: number; caught: number };
  openings: { tampered: number; caught: number };
  largest: Verdict;
  /** Samples with an estimate below the gas for the verifier's part alone. */
  underestimated: Verdict[];
};

/** Sums verdicts up. @param verdicts At least one. */
export function summarise(verdicts: readonly Verdict[]): AuditSummary {
  const disagreements = verdicts.filter(({ agrees }) => !agrees);
  const forged = verdicts.filter(({ openingCaught }) => openingCaught !== undefined);
  const claims = { tampered: verdicts.length, caught: verdicts.filter(({ claimCaught }) => claimCaught).length };
  const openings = { tampered: forged.length, caught: forged.filter(({ openingCaught }) => openingCaught).length };
  return {
    clean: disagreements.length === 0 && claims.caught === claims.tampered && openings.caught === openings.tampered,
    samples: verdicts.length,
    agreements: verdicts.length - disagreements.length,
    disagreements,
    claims,
    openings,
    largest: verdicts.reduce((best, verdict) => (verdict.gas > best.gas ? verdict : best)),
    underestimated: verdicts.filter(({ gas, estimate }) => estimate < gas),
  };
}
