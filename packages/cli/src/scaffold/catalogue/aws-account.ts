import { describeVariable } from '../python/environment.ts';
import type { EnvironmentVariable } from '../python/expression.ts';

/** Variables of services whose library reads the keys of an AWS account from the environment. */
export const awsKeyVariables: readonly EnvironmentVariable[] = [
  describeVariable('AWS_ACCESS_KEY_ID', true),
  describeVariable('AWS_SECRET_ACCESS_KEY', true),
];

/** Variables of services that also accept temporary AWS credentials. */
export const awsAccountVariables: readonly EnvironmentVariable[] = [
  ...awsKeyVariables,
  describeVariable('AWS_SESSION_TOKEN', false),
];
