/**
 * Runs local servers that stand in for the APIs of speech and language model vendors. Their source code is in the tests of the
 * CLI. `tsconfig.tests.json` compiles it for the benchmarks.
 */
const file = new URL('../packages/cli/test/stand-in-vendors/stand-in-vendors.js', import.meta.url);
const { startStandInVendors }: { startStandInVendors: () => Promise<{ readonly address: string }> } = await import(
  file.href
);
const { address } = await startStandInVendors();
process.stdout.write(`${new URL(`http://${address}`).port}\n`);
