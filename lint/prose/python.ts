import { collapseWhitespace, hasWords, type SourceFileProse } from './prose.ts';

/**
 * Matches a comment or a string with its opening quotes. Strings come first, so that a `#` within a string does not start a
 * comment.
 */
const token = /[rbuf]{0,2}("""|'''|"|')((?:\\.|(?!\1).)*?)\1|#([^\n]*)/gis;
const directive = /^(?:!|noqa\b|type:|fmt:|pragma\b|shellcheck\b)/;
const definition = /^(?:async def|def|class) ([a-zA-Z]\w*)|^([A-Z][A-Z\d_]+)(?:: [^=\n]+)? = /gm;
const messageCall = /(?:\b\w*(?:Error|Exception|Exit|Refused)|logger\.\w+|log\.\w+)\(\s*$/;

export function readPythonProse(text: string): SourceFileProse {
  const messages: string[] = [];
  const docstrings: string[] = [];
  for (const { index, 1: quotes = '', 2: string = '' } of text.matchAll(token)) {
    if (quotes === '') continue;
    const before = text.slice(Math.max(0, index - 80), index);
    if (quotes.length === 3 && /(?:^|\n)[ \t]*$/.test(before)) docstrings.push(collapseWhitespace(string));
    else if (messageCall.test(before) && hasWords(string)) messages.push(collapseWhitespace(string));
  }
  const names = [...text.matchAll(definition)].map(([, name = '', constant = '']) => name || constant);
  return {
    comments: [...readHashComments(text), ...docstrings],
    messages,
    testNames: [...text.matchAll(/^\s*(?:async )?def (test_\w+)/gm)].map(([, name = '']) => name),
    identifiers: names.filter((name) => !name.startsWith('test_')),
  };
}

/** Returns the comments of a Python or shell file. Comments on consecutive lines count as one. */
export function readHashComments(text: string): readonly string[] {
  const comments: string[] = [];
  let end = -1;
  for (const { index, 0: whole, 3: comment } of text.matchAll(token)) {
    if (comment === undefined || directive.test(comment.trim()) || comment.trim() === '') continue;
    if (end !== -1 && /^\n[ \t]*$/.test(text.slice(end, index))) comments.push(`${comments.pop()} ${comment.trim()}`);
    else comments.push(comment.trim());
    end = index + whole.length;
  }
  return comments;
}
