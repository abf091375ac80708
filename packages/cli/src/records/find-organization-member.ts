import type { ApiClient, Member } from '@bothost/contract';
import { Failure } from '../failure.ts';

export const memberArgument = { description: 'E-mail address or id of the member, from `cloud members list`' };

/**
 * Finds a member by e-mail address or user id. Ignores case, because the service stores both in lower case. Throws a `Failure` if
 * no member matches.
 */
export async function findOrganizationMember(
  client: Pick<ApiClient, 'listMembers'>,
  emailOrId: string,
): Promise<Member> {
  const identifier = emailOrId.trim().toLowerCase();
  const member = (await client.listMembers()).members.find(({ email, userId }) => [email, userId].includes(identifier));
  if (member !== undefined) return member;
  throw new Failure(
    'member-not-found',
    `${JSON.stringify(emailOrId)} is not a member of the organization.`,
    'To list the members, run: botcli cloud members list',
  );
}
