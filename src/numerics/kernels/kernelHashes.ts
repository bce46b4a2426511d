/** The kernel parts that are the same in every process; all other compiled code depends on a program's shapes. */
export const KERNEL_PARTS = ["elementary functions", "constants", "tables", "products", "hashes"] as const;
export type KernelPart = (typeof KERNEL_PARTS)[number];

/** An engine's capabilities: multiplication and addition in one instruction, a second memory. */
export type Variant = `${"madd" | "mulAdd"} ${"twoMemories" | "oneMemory"}`;

/** SHA-256 of each part in each variant; `npm run write -- kernels` writes them. */
export const KERNEL_HASHES: Record<KernelPart, Record<Variant, string>> = {
  "elementary functions": {
    "madd twoMemories": "90840dadb4add4bcde73b6022be693542dae85dff3eb8e0b78a7385d13f6b03b",
    "madd oneMemory": "b934632d40a2780bf815bb6c12cbf854d32a1455da88d3cbb223117ad771842d",
    "mulAdd twoMemories": "9a7a61377f680a4267d44c1df5e5768407a3fa1b783a4e69849f531d3e00f69e",
    "mulAdd oneMemory": "eab2eab194f0475f7a9cd5e5640a3c20699c9847b5bb5fa7611e2865f8661677",
  },
  constants: {
    "madd twoMemories": "f5069a7a32914519fa0b52540897cf27b2f595f1ded9d8e74e08d141ff7ed355",
    "madd oneMemory": "f5069a7a32914519fa0b52540897cf27b2f595f1ded9d8e74e08d141ff7ed355",
    "mulAdd twoMemories": "f5069a7a32914519fa0b52540897cf27b2f595f1ded9d8e74e08d141ff7ed355",
    "mulAdd oneMemory": "f5069a7a32914519fa0b52540897cf27b2f595f1ded9d8e74e08d141ff7ed355",
  },
  tables: {
    "madd twoMemories": "f566b6f1190f7fe3e2ea5f1aa02eda190b71d9aabdc8cfb64d11523e7bd65341",
    "madd oneMemory": "f566b6f1190f7fe3e2ea5f1aa02eda190b71d9aabdc8cfb64d11523e7bd65341",
    "mulAdd twoMemories": "f566b6f1190f7fe3e2ea5f1aa02eda190b71d9aabdc8cfb64d11523e7bd65341",
    "mulAdd oneMemory": "f566b6f1190f7fe3e2ea5f1aa02eda190b71d9aabdc8cfb64d11523e7bd65341",
  },
  products: {
    "madd twoMemories": "de925a175445bc3b6159e8071ab634e3caefb7b2e55148a0ec6736f6a793ff61",
    "madd oneMemory": "de925a175445bc3b6159e8071ab634e3caefb7b2e55148a0ec6736f6a793ff61",
    "mulAdd twoMemories": "18f2e76cc9a597591d4ac57098838072b714350678717ae1d0319cf893f477ba",
    "mulAdd oneMemory": "18f2e76cc9a597591d4ac57098838072b714350678717ae1d0319cf893f477ba",
  },
  hashes: {
    "madd twoMemories": "57ec39a0dc05257ec5785c7aeccd73c85b769fd732b255bcba2369a72a30e1d7",
    "madd oneMemory": "57ec39a0dc05257ec5785c7aeccd73c85b769fd732b255bcba2369a72a30e1d7",
    "mulAdd twoMemories": "57ec39a0dc05257ec5785c7aeccd73c85b769fd732b255bcba2369a72a30e1d7",
    "mulAdd oneMemory": "57ec39a0dc05257ec5785c7aeccd73c85b769fd732b255bcba2369a72a30e1d7",
  },
};
