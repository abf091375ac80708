import { describe, expect, it } from 'vitest';
import { evaluateJavaScriptInBot, startAgentSession, stopAgentSession, waitForSessionEnd } from '../support/client.ts';
import type { ImageRegion } from './image-region.ts';

export function defineDeployTests(getRegion: () => ImageRegion): void {
  describe('a deploy', () => {
    it('keeps live sessions on the former image, and a rollback runs its digest again', async () => {
      const region = getRegion();
      const push = (version: string) => region.pushBot('versioned', `const version = '${version}';`);
      const image = await push('one');
      const { contentHash: digest } = await region.deploy('versioned', { image });
      expect(digest).toMatch(/^sha256:/);
      const version = (sessionId: string) => evaluateJavaScriptInBot(region, 'versioned', sessionId, 'version');
      const old = await startAgentSession(region, 'versioned');
      expect(await version(old)).toBe('one');

      // The same tag.
      await push('two');
      expect((await region.deploy('versioned', { image })).image?.digest).not.toBe(digest);
      const young = await startAgentSession(region, 'versioned');
      expect(await Promise.all([version(old), version(young)])).toEqual(['one', 'two']);
      await evaluateJavaScriptInBot(region, 'versioned', old, 'state.end(200)');
      expect(await waitForSessionEnd(region, 'versioned', old)).toMatchObject({ completionStatus: 'HTTP_COMPLETED' });

      expect((await region.rollBack('versioned')).image?.digest).toBe(digest);
      const next = await startAgentSession(region, 'versioned');
      expect(await Promise.all([version(next), version(young)])).toEqual(['one', 'two']);
      for (const sessionId of [next, young]) await stopAgentSession(region, 'versioned', sessionId);
      for (const sessionId of [next, young]) await waitForSessionEnd(region, 'versioned', sessionId);
    });
  });
}
