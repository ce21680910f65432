// What suites in the extension host share.
const step = (name, value = {}) => console.log('STEP ' + JSON.stringify({ step: name, ...value }));

async function until(what, condition, seconds = 30) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what}: nothing within ${seconds} s`);
    await new Promise(resolve => setTimeout(resolve, 25));
  }
}

module.exports = { step, until };
