// A provider fills in its base URL, and says what is to be entered. Without this script the server takes the usual
// address of the provider where none is given.
const provider = document.querySelector("select[name=provider]");
if (provider) {
  const { base_url: address, key_env: variable } = provider.form.elements;
  const hint = document.getElementById(`${provider.id}_helptext`);
  const usual = hint.textContent;
  const addresses = [...provider.options].map((option) => option.dataset.baseUrl).filter(Boolean);
  const fillIn = () => {
    const { baseUrl = "", keyEnv = "", hint: said = usual } = provider.selectedOptions[0].dataset;
    hint.textContent = said;
    if (variable) variable.placeholder = keyEnv;
    // What somebody typed stays.
    if (!address.value || addresses.includes(address.value)) address.value = baseUrl;
  };
  provider.addEventListener("change", fillIn);
  if (provider.value) fillIn();
}
