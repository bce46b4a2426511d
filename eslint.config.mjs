import tseslint from "typescript-eslint";

export default tseslint.config(
  {
    ignores: [
      "artifacts/**",
      "cache/**",
      "coverage/**",
      "dist*/**",
      "node_modules/**",
      "ignition/deployments/**",
      // A project of its own, which its build checks.
      "examples/iris/**",
      "test/system/package/projects/**",
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: ["eslint.config.mjs", "tools/build.mjs", "tools/package/*.mjs", "tools/setup.mjs"],
        },
        tsconfigRootDir: import.meta.dirname,
      },
    },
  },
  { files: ["test/**"], rules: { "@typescript-eslint/no-unused-expressions": "off" } },
  { files: ["**/*.mjs"], ...tseslint.configs.disableTypeChecked },
);
