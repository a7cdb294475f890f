// What does Node say of ECMA-262 patterns? In: a JSON list of [pattern, [text, ..]]. Out: Node's version, and for each
// pattern whether it is legal with the flag u ("u"), only without ("plain"), or not at all (null), and one answer a text.
//
// With the flag u a search is asked as ^[^]*?(?:pattern): left alone, V8 also tries places inside a surrogate pair.
"use strict";

function answers([pattern, texts]) {
  try {
    new RegExp(pattern, "u");
    const searching = new RegExp(`^[^]*?(?:${pattern})`, "u");
    return ["u", texts.map((text) => searching.test(text))];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  try {
    const plain = new RegExp(pattern);
    return ["plain", texts.map((text) => plain.test(text))];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [null, []];
  }
}

const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
const { node, unicode } = process.versions;
process.stdout.write(JSON.stringify({ node, unicode, answers: cases.map(answers) }));
