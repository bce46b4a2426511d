import { buildModule } from "@nomicfoundation/ignition-core";

/**
 * Deploys the step verifier with its elementary functions. Immutable and without state: one deployment serves many
 * markets.
 */
export const verifierModule = buildModule("Verifier", (m) => {
  const elementary = m.contract("Elementary");
  const verifier = m.contract("StepVerifier", [elementary]);
  return { elementary, verifier };
});

export default verifierModule;
