import { variable } from '../python/environment.ts';
import type { Variable } from '../python/expression.ts';

/** The keys of an AWS account, for services that read them from the environment by themselves. */
export const awsKeys: readonly Variable[] = [
  variable('AWS_ACCESS_KEY_ID', true),
  variable('AWS_SECRET_ACCESS_KEY', true),
];

/** The same where the keys may be temporary ones as well. */
export const awsAccount: readonly Variable[] = [...awsKeys, variable('AWS_SESSION_TOKEN', false)];
