import { describeVariable } from '../python/environment.ts';
import type { EnvironmentVariable } from '../python/expression.ts';

/** Environment variables with AWS access keys, for services that read the keys from the environment. */
export const awsKeyVariables: readonly EnvironmentVariable[] = [
  describeVariable('AWS_ACCESS_KEY_ID', true),
  describeVariable('AWS_SECRET_ACCESS_KEY', true),
];

/** Environment variables with AWS access keys, for services that also accept temporary AWS credentials. */
export const awsAccountVariables: readonly EnvironmentVariable[] = [
  ...awsKeyVariables,
  describeVariable('AWS_SESSION_TOKEN', false),
];
