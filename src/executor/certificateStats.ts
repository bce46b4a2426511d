/** Counts how the elements of float32 sums and dot products were settled. */
export type CertificateStats = {
  /** Elements of such reductions. */
  elements: number;
  /** Not settled by the error bound. */
  flagged: number;
  /** Flagged elements settled because none of their partial sums can have been rounded. */
  ties: number;
  /** Flagged elements, other than ties, settled by a compensated sum. */
  compensated: number;
  /** The remaining ones, recomputed in integers. */
  exact: number;
  /** Compensated and exact ones where the float64 result would have been wrong. */
  patched: number;
};

export const noStats = (): CertificateStats => ({
  elements: 0,
  flagged: 0,
  ties: 0,
  compensated: 0,
  exact: 0,
  patched: 0,
});
