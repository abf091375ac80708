import { expect, it } from 'vitest';
import { parseImageReference } from './image-reference.ts';

const hub = 'https://index.docker.io/v1/';
const digest = `sha256:${'a'.repeat(64)}`;

it.each([
  ['app', 'ghcr.io', 'app', 'latest'],
  ['team/app:1.2', 'ghcr.io', 'team/app', '1.2'],
  ['ghcr.io/team/app:1.2', 'ghcr.io', 'team/app', '1.2'],
  [`ghcr.io/team/app:1.2@${digest}`, 'ghcr.io', 'team/app', digest],
  ['nginx', hub, 'library/nginx', 'latest'],
  ['docker.io/nginx:1', hub, 'library/nginx', '1'],
  ['index.docker.io/team/app', hub, 'team/app', 'latest'],
  ['localhost:5000/app:2', 'http://localhost:5000', 'app', '2'],
  ['app', 'us.pkg.dev/project/images', 'project/images/app', 'latest'],
  ['project/images/app', 'us.pkg.dev/project/images', 'project/images/app', 'latest'],
  ['us.pkg.dev/project/images/app', 'us.pkg.dev/project/images', 'project/images/app', 'latest'],
])('parseImageReference parses %s in registry %s as path %s, reference %s', (text, registry, repository, reference) => {
  expect(parseImageReference(text, registry)).toMatchObject({ repository, reference });
});

it.each([
  ['', 'ghcr.io'],
  ['App', 'ghcr.io'],
  ['a//b', 'ghcr.io'],
  ['../../x', 'ghcr.io'],
  ['a/../b', 'ghcr.io'],
  ['app?x=1', 'ghcr.io'],
  ['app#x', 'ghcr.io'],
  ['app%2f', 'ghcr.io'],
  ['app:', 'ghcr.io'],
  ['app:a b', 'ghcr.io'],
  ['app@sha256:short', 'ghcr.io'],
  [`app@${digest}@${digest}`, 'ghcr.io'],
  ['quay.io/team/app', 'ghcr.io'],
  ['ghcr.io:5000/team/app', 'ghcr.io'],
  ['us.pkg.dev/other/app', 'us.pkg.dev/project/images'],
  ['a'.repeat(256), 'ghcr.io'],
])('parseImageReference rejects %j in registry %s', (text, registry) =>
  expect(parseImageReference(text, registry)).toHaveProperty('problem'),
);
