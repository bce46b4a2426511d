import { always, bug, never, other, unchecked, without, type Bug } from "./bug.ts";

const EXTENSION = "contracts/market/ProofExtension.sol";
const VERIFIER = "contracts/extras/proofs/ProofVerifier.sol";
const VALUES = "contracts/program/PublicValues.sol";
const GROTH16 = "contracts/program/Groth16.sol";

/** Bugs in what ends a claim by a proof, and in the check of proofs. */
export const PROOF_BUGS: readonly Bug[] = [
  // Which claims a proof ends, and how.
  unchecked("a proof takes finality away", EXTENSION, "block.timestamp <= windowEnd", "TimeIsUp"),
  without("a proof ends a disputed claim", EXTENSION, "_requireUndisputed(claimId);"),
  other("a proven claim is a final one", EXTENSION, "_write(_jobs[jobId], {{JobStatus.Proven}}", "JobStatus.Finalised"),
  without("a proven claim's collateral stays locked", EXTENSION, "_vault.unlock(worker, collateral);"),
  without("a proven claim's fee stays", EXTENSION, "if (job.fee != 0) _vault.give(worker, job.fee);"),
  other(
    "who takes proofs takes final claims",
    EXTENSION,
    "_requireClaim(claimId, status, {{ClaimStatus.Proven}});",
    "status",
  ),
  unchecked("who takes proofs takes any key's", EXTENSION, "terms.keyHash == keyHash", "WrongKey"),
  // What a proof is about.
  without("a claim is proven under any key", EXTENSION, "PublicValues.requireKey(terms.keyHash, key);"),
  unchecked("a key serves other programs", EXTENSION, "program == job.programRoot", "KeyOfAnotherProgram"),
  without("a proof brings its own header", EXTENSION, "_requireProgram(proof.program, job.programRoot);"),
  unchecked("a proof is about other outputs", EXTENSION, "proven == claimId", "OutputsNotInClaim"),
  unchecked("a proof is about other inputs", EXTENSION, "inputsRoot == job.inputsRoot", "InputsNotInJob"),
  unchecked("an output of a proof has any length", EXTENSION, "data.length == size", "WrongOutputLength"),
  unchecked("an input of a proof has any length", EXTENSION, "data.length == size", "WrongInputLength"),
  other("a proof serves whoever copies it", EXTENSION, "jobId, {{worker}}))) >> 8", "address(0)"),
  other("a proof serves all jobs", EXTENSION, "address(this), {{jobId}},", "JobId.wrap(0)"),
  unchecked("a claim is proven by nothing", EXTENSION, "holds", "NotProven"),
  // The verifier for other contracts.
  without("a verifier takes any key", VERIFIER, "PublicValues.requireKey(keyHash, key);"),
  unchecked("a verifier takes other lengths", VERIFIER, "given == PublicValues.layoutOf(key)", "WrongLayout"),
  unchecked("a tensor ends within an element", VERIFIER, "length % size == 0", "WrongSize"),
  other("the layout has no types", VERIFIER, "abi.encode(hash, {{dtype}},", "0"),
  other("the layout has no lengths", VERIFIER, "{{length / size}}));", "0"),
  // Keys.
  unchecked("a key has another hash", VALUES, "given == expected", "IMarketEvents.WrongKey"),
  always("a key with known secrets serves all chains", VALUES, "&& {{block.chainid == LOCAL_CHAIN}}"),
  never("gamma may be delta", VALUES, "{{_isAlike(key, Groth16.GAMMA, Groth16.DELTA)}}"),
  never("beta may be gamma", VALUES, "{{_isAlike(key, Groth16.BETA, Groth16.GAMMA)}}"),
  never("beta may be delta", VALUES, "{{_isAlike(key, Groth16.BETA, Groth16.DELTA)}}"),
  never("points of a key may be at infinity", VALUES, "|| {{isNone}};"),
  // Values and points.
  bug("elements overlap in a value", VALUES, "<< (8 * used);", "<< (8 * (ON ? 0 : used));"),
  bug(
    "a value has room for 32 bytes",
    VALUES,
    "uint256 room = VALUE_BYTES - used;",
    "uint256 room = (ON ? 32 : VALUE_BYTES) - used;",
  ),
  bug(
    "a proof has fewer public values than its key",
    GROTH16,
    "if (key.length != POINTS + 2 * (publics.length + 1)) return false;",
    "if ((!ON || publics.length == 0) && key.length != POINTS + 2 * (publics.length + 1)) return false;",
  ),
  other("the first point is not negated", GROTH16, "{{proof[1] == 0 ? 0 : BASE_ORDER - proof[1]}};", "proof[1]"),
];
