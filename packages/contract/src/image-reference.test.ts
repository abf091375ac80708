import { describe, expect, it } from 'vitest';
import { parseImageReference } from './image-reference.ts';

const hub = 'https://index.docker.io/v1/';
const sha256 = `sha256:${'0a'.repeat(32)}`;
const sha512 = `sha512:${'0a'.repeat(64)}`;

describe('parseImageReference', () => {
  it.each([
    ['nginx', hub, 'docker.io/library/nginx:latest'],
    ['nginx:1.27', hub, 'docker.io/library/nginx:1.27'],
    ['team/app', hub, 'docker.io/team/app:latest'],
    ['team/app/worker:2', hub, 'docker.io/team/app/worker:2'],
    ['docker.io/nginx', hub, 'docker.io/library/nginx:latest'],
    ['index.docker.io/team/app:1', hub, 'docker.io/team/app:1'],
    ['registry-1.docker.io/team/app:1', hub, 'docker.io/team/app:1'],
    ['ghcr.io/team/my-bot:1.4', 'ghcr.io', 'ghcr.io/team/my-bot:1.4'],
    ['GHCR.io/team/my-bot:1.4', 'ghcr.io', 'ghcr.io/team/my-bot:1.4'],
    ['ghcr.io/bot', 'ghcr.io', 'ghcr.io/bot:latest'],
    ['localhost/bot:1', 'localhost', 'localhost/bot:1'],
    ['localhost:5000/bot:1', 'localhost:5000', 'localhost:5000/bot:1'],
    ['127.0.0.1:5000/team/bot', '127.0.0.1:5000', '127.0.0.1:5000/team/bot:latest'],
    ['registry.example.com:443/bot:1', 'registry.example.com', 'registry.example.com/bot:1'],
    ['a.b/c__d/e-f.g:A_b.C-1', 'a.b', 'a.b/c__d/e-f.g:A_b.C-1'],
    [`ghcr.io/team/app@${sha256}`, 'ghcr.io', `ghcr.io/team/app@${sha256}`],
    [`ghcr.io/team/app:1@${sha512}`, 'ghcr.io', `ghcr.io/team/app:1@${sha512}`],
    [`app:${'t'.repeat(128)}`, hub, `docker.io/library/app:${'t'.repeat(128)}`],
    [`${'a'.repeat(247)}`, hub, `docker.io/library/${'a'.repeat(247)}:latest`],
  ])('parses %s as an image of %s', (text, registry, normalized) => {
    expect(parseImageReference(text)).toMatchObject({ registry, text: normalized });
    expect(parseImageReference(normalized)).toEqual(parseImageReference(text));
  });

  it('returns the parts of a reference', () => {
    expect(parseImageReference(`nginx:1@${sha256}`)).toEqual({
      registry: hub,
      repository: 'library/nginx',
      name: 'docker.io/library/nginx',
      tag: '1',
      digest: sha256,
      text: `docker.io/library/nginx:1@${sha256}`,
    });
    expect(parseImageReference(`nginx@${sha256}`)).toMatchObject({ tag: null, digest: sha256 });
  });

  it.each([
    ['', /path/],
    [' nginx', /path/],
    ['Nginx', /upper-case/],
    ['ghcr.io/Team/app:1', /upper-case/],
    ['https://ghcr.io/team/app:1', /begins with https:/],
    ['docker://nginx', /begins with docker:/],
    ['nginx:', /tag/],
    ['nginx:.1', /tag/],
    ['nginx:-1', /tag/],
    ['nginx:a b', /tag/],
    ['nginx:é', /tag/],
    [`nginx:${'t'.repeat(129)}`, /tag/],
    ['nginx@', /sha256/],
    ['nginx@sha256', /64 digits/],
    ['nginx@sha256:abc', /64 digits/],
    [`nginx@${sha256}0`, /64 digits/],
    [`nginx@${sha256.toUpperCase()}`, /sha256/],
    [`nginx@sha256:${'0A'.repeat(32)}`, /64 digits/],
    [`nginx@${sha256}:1`, /64 digits/],
    [`nginx@sha512:${'0a'.repeat(32)}`, /128 digits/],
    [`nginx@md5:${'0a'.repeat(16)}`, /sha256/],
    [`nginx@${sha256}@${sha256}`, /more than one @/],
    ['user:password@ghcr.io/app', /sha256/],
    ['ghcr.io//app', /path/],
    ['ghcr.io/', /path/],
    ['/app', /path/],
    ['ghcr.io/../app', /path/],
    ['ghcr.io/app?x=1', /path/],
    ['ghcr.io/a___b', /path/],
    ['team/app\nx', /path/],
    ['bad_host.example/app', /host/],
    ['ghcr.io:99999/app', /host/],
    ['ghcr.io:/app', /host/],
    ['2130706433.1/app', /host/],
    ['a'.repeat(248), /255 characters/],
    ['a'.repeat(513), /512 characters/],
  ])('returns a problem for %j', (text, problem) => {
    expect(parseImageReference(text)).toEqual({ problem: expect.stringMatching(problem) });
  });
});
