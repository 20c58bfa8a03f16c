// A phone is one voter of its room, over a reload and where its tab is closed and the code is scanned again. Its random
// name lies in this tab's storage, and once the tab is left in the browser's, for the next tab that comes to the room.

const VOTER = 'shardlab-voter';
const VOTER_LIFE_MS = 2 * 3600e3; // as long as a room
let voter = null; // { room, name }
let answered = ''; // the last name of the server's that was set right

function storedVoter(storage) {
  try {
    const { room, name, at } = JSON.parse(storage().getItem(VOTER));
    return Date.now() - at < VOTER_LIFE_MS ? { room, name } : null;
  } catch {
    return null; // nothing is kept, or nothing may be
  }
}

function storeVoter(storage) {
  try {
    if (voter) storage().setItem(VOTER, JSON.stringify({ ...voter, at: Date.now() }));
    else storage().removeItem(VOTER);
  } catch { /* a browser that keeps nothing is a new voter each time */ }
}

const [ofTab, ofBrowser] = [() => sessionStorage, () => localStorage];

// Told after every run: the room of the visit and the name that the server has for it. One that was kept goes before it.
function keepVoter(given, tell) {
  if (!given || given.name === answered || (given.room === voter?.room && given.name === voter.name)) return;
  answered = given.name;
  const kept = [voter, storedVoter(ofTab), storedVoter(ofBrowser)].find((one) => one?.room === given.room);
  voter = null;
  storeVoter(ofBrowser); // it is this tab's from now on
  voter = kept ?? given;
  storeVoter(ofTab);
  if (kept && kept.name !== given.name) tell(kept);
}

window.addEventListener('pagehide', () => voter && storeVoter(ofBrowser));
