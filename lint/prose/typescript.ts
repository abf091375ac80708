import { type ESTree, parseSync, Visitor } from 'vite';
import { collapseWhitespace, hasWords, type SourceFileProse } from './prose.ts';

const errorFactories = /^(?:\w*(?:Error|Failure)|failure|fail|fault|refused|addIssue|sendError)$/;
const logMethods = /^(?:trace|debug|info|warn|error|fatal)$/;
const messageFields = /^(?:message|error|hint)$/;
const testFunctions = /^(?:it|test|describe|\w+Test|describe[A-Z]\w*)$/;
/** Matches comments that a tool reads, such as `biome-ignore`. */
const directive = /^(?:biome-ignore|@ts-|#__|\/ *<reference|\*? *@vitest|eslint)/;

type Comment = {
  readonly type: 'Line' | 'Block';
  readonly value: string;
  readonly start: number;
  readonly end: number;
};
type Call = ESTree.CallExpression | ESTree.NewExpression;

export function readTypeScriptProse(path: string, text: string): SourceFileProse {
  const lang = path.endsWith('.tsx') ? 'tsx' : path.endsWith('.ts') ? 'ts' : 'js';
  const { program, comments } = parseSync(path, text, { lang });
  const messages = new Set<string>();
  const testNames: string[] = [];
  const identifiers: string[] = [];
  const titles: string[] = [];

  function readCall(node: Call): void {
    if (isMessageCall(node)) for (const argument of node.arguments) addStrings(argument);
  }

  function addStrings(node: ESTree.Node): void {
    for (const string of stringsIn(node, text)) {
      if (hasWords(string) && /\S\s+\S/.test(string)) messages.add(collapseWhitespace(string));
    }
  }

  function addName(node: ESTree.Node | null | undefined): void {
    if (node?.type === 'Identifier') identifiers.push(node.name);
  }

  new Visitor({
    CallExpression(node) {
      readCall(node);
      const title = testTitle(node, text);
      if (title === null) return;
      titles.push(collapseWhitespace(title));
      if (!hasWords(title) || rootName(node.callee).startsWith('describe')) return;
      testNames.push(titles.join(' > '));
    },
    'CallExpression:exit'(node) {
      if (testTitle(node, text) !== null) titles.pop();
    },
    NewExpression: readCall,
    Property(node) {
      if (node.key.type === 'Identifier' && messageFields.test(node.key.name)) addStrings(node.value);
    },
    ExportNamedDeclaration({ declaration, specifiers }) {
      if (declaration?.type === 'VariableDeclaration') for (const { id } of declaration.declarations) addName(id);
      else if (declaration !== null && 'id' in declaration) addName(declaration.id);
      for (const { exported } of specifiers) addName(exported);
    },
  }).visit(program);

  return {
    comments: wholeComments(comments, text),
    messages: path.includes('.test.') ? [] : [...messages],
    testNames,
    identifiers,
  };
}

/** Returns the name of the called function: `it` for `it(...)`, `it.each(...)(...)` and `it.skipIf(...)(...)`. */
function rootName(callee: ESTree.Node): string {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type === 'MemberExpression') return rootName(callee.object);
  if (callee.type === 'CallExpression' || callee.type === 'TaggedTemplateExpression') {
    return rootName(callee.type === 'CallExpression' ? callee.callee : callee.tag);
  }
  return '';
}

function testTitle(node: ESTree.CallExpression, text: string): string | null {
  const [title, ...others] = node.arguments;
  if (title === undefined || !testFunctions.test(rootName(node.callee))) return null;
  if (!others.some(({ type }) => type === 'ArrowFunctionExpression' || type === 'FunctionExpression')) return null;
  return stringsIn(title, text)[0] ?? null;
}

function isMessageCall({ callee }: Call): boolean {
  if (callee.type === 'Identifier') return errorFactories.test(callee.name);
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return false;
  return logMethods.test(callee.property.name) || errorFactories.test(callee.property.name);
}

/**
 * Returns the strings that an expression can evaluate to. In a template literal, each embedded expression is kept as source text.
 */
function stringsIn(node: ESTree.Node, text: string): readonly string[] {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : [];
    case 'TemplateLiteral':
      return [text.slice(node.start + 1, node.end - 1)];
    case 'BinaryExpression': {
      const [left, right] = [stringsIn(node.left, text), stringsIn(node.right, text)];
      return left.length === 1 && right.length === 1 ? [`${left[0]}${right[0]}`] : [...left, ...right];
    }
    case 'ConditionalExpression':
      return [...stringsIn(node.consequent, text), ...stringsIn(node.alternate, text)];
    case 'LogicalExpression':
      return [...stringsIn(node.left, text), ...stringsIn(node.right, text)];
    case 'ArrayExpression':
      return node.elements.flatMap((element) => (element === null ? [] : stringsIn(element, text)));
    case 'ObjectExpression':
      return node.properties.flatMap((each) => (each.type === 'Property' ? stringsIn(each.value, text) : []));
    case 'ArrowFunctionExpression':
      return node.expression ? stringsIn(node.body, text) : [];
    default:
      return [];
  }
}

function wholeComments(comments: readonly Comment[], text: string): readonly string[] {
  const whole: string[] = [];
  let previous: Comment | null = null;
  for (const comment of comments) {
    const value = collapseWhitespace(comment.value.replace(/^\*/, '').replace(/\n\s*\* ?/g, '\n'));
    if (value === '' || directive.test(value) || text.startsWith('#!', comment.start)) continue;
    const continues =
      previous?.type === 'Line' && comment.type === 'Line' && /^\s*$/.test(text.slice(previous.end, comment.start));
    if (continues && /^\n[ \t]*$/.test(text.slice(previous?.end, comment.start))) whole.push(`${whole.pop()} ${value}`);
    else whole.push(value);
    previous = comment;
  }
  return whole;
}
