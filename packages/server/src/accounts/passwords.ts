import { createApiError } from '@bothost/contract';

/**
 * Rejects a weak password.
 *
 * @throws failure `password-too-weak` for a common password, for fewer than four different characters, and if fewer than four
 * characters remain after the e-mail address and its parts are removed
 */
export async function requireStrongPassword(password: string, email: string): Promise<void> {
  // Load the list of common passwords only when it is needed, because it takes a few megabytes of memory.
  const { default: commonPasswords } = await import('fxa-common-password-list');
  const text = password.toLowerCase();
  const parts = [email, ...email.split('@')].filter((part) => part.length >= 4);
  const withoutEmail = parts.reduce((rest, part) => rest.replaceAll(part, ''), text);
  const isRepetition = new Set(text).size < 4;
  if (isRepetition || withoutEmail.length < 4 || commonPasswords.test(text)) throw createApiError('password-too-weak');
}
