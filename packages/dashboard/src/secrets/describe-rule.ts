/** Makes a sentence of a rule of the contract, such as `letters and digits only`. */
export function describeRule(rule: string): string {
  return `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`;
}
