import type { Job } from "../structs.ts";

/**
 * The form of a claim. `trace`: the claim commits to everything computed, with the run's root. `answer`: the claim
 * commits only to the outputs, with the root of the list of output roots.
 */
export const FORMS = ["trace", "answer"] as const;
export type ClaimForm = (typeof FORMS)[number];

/** Returns the claim form demanded by a job. */
export const formOf = ({ answers }: Pick<Job, "answers">): ClaimForm => (answers === 0 ? "trace" : "answer");
