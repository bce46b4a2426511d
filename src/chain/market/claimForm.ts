import type { Job } from "../structs.ts";

/**
 * What a claim on a job commits to: everything that was computed (its root is the run's), or the outputs alone (its
 * root is that of the list of their roots).
 */
export const FORMS = ["trace", "answer"] as const;
export type ClaimForm = (typeof FORMS)[number];

/** The form of the claims that a job asks for. */
export const formOf = ({ answers }: Pick<Job, "answers">): ClaimForm => (answers === 0 ? "trace" : "answer");
