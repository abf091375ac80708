import { expect, test } from 'vitest';
import { formatCloudCommand, formatCurlCommand } from './shell-command.ts';

test('formatCloudCommand quotes arguments that contain shell metacharacters', () => {
  expect(formatCloudCommand('home', 'keys', 'create', "Ada's key", '--kind', 'public')).toBe(
    `botcli cloud keys create 'Ada'\\''s key' --kind public --organization home`,
  );
});

test('formatCurlCommand includes the method, path and body of the operation, and a variable instead of the token', () => {
  const request = { origin: 'http://127.0.0.1:7420', organization: 'home', params: { userId: '1' } };
  expect(formatCurlCommand('updateMember', { ...request, body: { role: 'viewer' } })).toBe(
    `curl -X PATCH -H "Authorization: Bearer $BOTCLI_TOKEN" -H 'Content-Type: application/json' ` +
      `-d '{"role":"viewer"}' http://127.0.0.1:7420/v1/organizations/home/members/1`,
  );
});
