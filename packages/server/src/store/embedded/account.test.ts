import { expect, test } from 'vitest';
import { choosePostgresOsAccount, parsePasswdFile } from './account.ts';

const accounts = parsePasswdFile(`root:x:0:0:root:/root:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
# a comment
postgres:x:101:104::/var/lib/postgresql:/bin/bash
broken:x:many:0::/:
anna:x:1000:1000::/home/anna:/bin/bash
`);
const [root, nobody, postgres, anna] = accounts;
if (root === undefined || nobody === undefined || postgres === undefined || anna === undefined)
  throw new Error('accounts');

test('parsePasswdFile skips lines that are not accounts', () => {
  expect(accounts.map(({ name }) => name)).toEqual(['root', 'nobody', 'postgres', 'anna']);
  expect(postgres).toEqual({ name: 'postgres', uid: 101, gid: 104 });
});

test.each([
  ['an ordinary user runs the database with the same account', anna, accounts, undefined, anna],
  ['root prefers the account postgres', root, accounts, undefined, postgres],
  ['root uses nobody if the account postgres does not exist', root, [root, nobody, anna], undefined, nobody],
  ['root keeps the account that owns the data', root, accounts, nobody.uid, nobody],
  ['root keeps the ordinary user who created the data', root, accounts, anna.uid, anna],
])('%s', (_name, own, known, owner, expected) => {
  expect(choosePostgresOsAccount(own, known, owner)).toEqual(expected);
});

test.each([
  [
    'an ordinary user if the data belongs to another account',
    anna,
    accounts,
    postgres.uid,
    /belongs to postgres, and this process runs as anna/,
  ],
  [
    'root if there is no unprivileged account',
    root,
    [root, anna],
    undefined,
    /none of the accounts postgres, nobody, daemon/,
  ],
  ['root if the data belongs to root', root, accounts, 0, /belongs to user id 0/],
  [
    'root if postgres is another name for root',
    root,
    [{ ...root, name: 'postgres' }],
    undefined,
    /may not run as root/,
  ],
])('choosePostgresOsAccount refuses %s', (_name, own, known, owner, sentence) => {
  expect(() => choosePostgresOsAccount(own, known, owner)).toThrow(sentence);
});
